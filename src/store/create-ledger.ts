import { randomUUID } from 'node:crypto';
import { createAttemptBook } from './attempt-book.js';
import { createEscalationBook } from './escalation-book.js';
import type { Book, Ledger } from './ledger.js';
import { createRunBook } from './run-book.js';
import { createSignatureBook } from './signature-book.js';
import type { Database } from './tables.js';

/** The ledger of a project over an open store; `now` is in milliseconds since the epoch. */
export function createLedger(db: Database, project: string, now: () => number): Ledger {
  const book: Book = { db, project, now: () => new Date(now()).toISOString(), newId: randomUUID };
  const signatures = createSignatureBook(book);
  const escalations = createEscalationBook(book);
  return {
    ...createRunBook(book),
    ...createAttemptBook(book),
    ...escalations,
    meet: async (signature, runId) => {
      const open = await escalations.openFor(signature);
      return { ...(await signatures.meet(signature, runId)), open };
    },
    close: () => db.destroy(),
  };
}
