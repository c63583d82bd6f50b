import { randomUUID } from 'node:crypto';
import { attemptTable } from './attempt-table.js';
import { escalationTable } from './escalation-table.js';
import type { StoreContext, Store } from './store.js';
import { runTable } from './run-table.js';
import { signatureTable } from './signature-table.js';
import type { Database } from './tables.js';

/** The store of a project over an open store; `now` is in milliseconds since the epoch. */
export function createStore(db: Database, project: string, now: () => number): Store {
  const context: StoreContext = { db, project, now: () => new Date(now()).toISOString(), newId: randomUUID };
  const signatures = signatureTable(context);
  const escalations = escalationTable(context);
  return {
    ...runTable(context),
    ...attemptTable(context),
    ...escalations,
    recordFailure: async (signature, runId) => {
      const open = await escalations.openFor(signature);
      return { ...(await signatures.meet(signature, runId)), open };
    },
    close: () => db.destroy(),
  };
}
