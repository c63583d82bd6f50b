import { z } from 'zod';
import { runIdShape } from '../event.js';
import { attemptFinished, attemptStarted, causeEnded, fixReverted, runUndone } from './attempt-table.js';
import { escalationTable } from './escalation-table.js';
import type { Store } from './store.js';
import { recordFailure } from './signature-table.js';
import { readStats } from './stats.js';
import type { Database, StoreContext } from './tables.js';
import { checkedRow, storedJson } from './stored-text.js';

/** `resume` checks the request and the progress. */
const runShape = z.object({
  id: runIdShape,
  startedAt: z.iso.datetime(),
  outcome: z.string().nullable(),
  request: z.unknown(),
  progress: z.unknown(),
});

/** Creates a project's store on an open database; `now` returns milliseconds since the epoch. */
export function createStore(db: Database, project: string, now: () => number): Store {
  const context: StoreContext = { db, project, now: () => new Date(now()).toISOString() };
  const escalations = escalationTable(context);
  return {
    ...runTable(context),
    ...escalations,
    attemptStarted: (start) => attemptStarted(context, start),
    attemptFinished: (id, attempt) => attemptFinished(context, id, attempt),
    causeEnded: (end) => causeEnded(context, end),
    fixReverted: (end) => fixReverted(context, end),
    runUndone: (runId) => runUndone(context, runId),
    recordFailure: async (signature, runId) => {
      const open = await escalations.openFor(signature);
      return { ...(await recordFailure(context, signature, runId)), open };
    },
    stats: () => readStats(db, project),
    close: () => db.destroy(),
  };
}

/** The part of the store that keeps runs: their requests, and the progress of their tests. */
function runTable(context: StoreContext): Pick<Store, 'runStarted' | 'saveProgress' | 'runEnded' | 'run'> {
  const { db, project, now } = context;
  return {
    runStarted: async ({ runId, request, resumedFrom }) => {
      await db
        .insertInto('runs')
        .values({
          id: runId,
          project,
          startedAt: now(),
          request: storedJson(request),
          progress: 'null',
          resumedFrom,
        })
        .execute();
    },
    saveProgress: async (runId, progress) => {
      await db
        .updateTable('runs')
        .set({ progress: storedJson(progress) })
        .where('id', '=', runId)
        .execute();
    },
    runEnded: async (runId, end) => {
      await db
        .updateTable('runs')
        .set({ ...end, endedAt: now() })
        .where('id', '=', runId)
        .execute();
    },
    run: async (id) => {
      const all = db.selectFrom('runs').selectAll().where('project', '=', project);
      const chosen = id === null ? all.orderBy('startedAt', 'desc') : all.where('id', '=', id);
      const row = await chosen.executeTakeFirst();
      if (!row) return null;
      const next = await db
        .selectFrom('runs')
        .select('id')
        .where('project', '=', project)
        .where('resumedFrom', '=', row.id)
        .orderBy('startedAt', 'desc')
        .executeTakeFirst();
      const { id: runId, ...stored } = checkedRow(runShape, row, ['request', 'progress']);
      return { ...stored, runId, continuedIn: next?.id ?? null };
    },
  };
}
