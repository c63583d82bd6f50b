import { createEscalationTable } from './escalation-table.js';
import { createFixTable } from './fix-table.js';
import { createFlakeTable } from './flake-table.js';
import type { Store, AttemptStart, FixReversal, Occurrence } from './store.js';
import {
  recordFailure,
  changeCount,
  markHealed,
  markUndone,
  markUnhealed,
  touchSignature,
} from './signature-table.js';
import { sumCostsSince } from './spent-since.js';
import { type Database, type StoreContext, serializeMasked, maskText } from './tables.js';
import type { Attempt } from '../model/attempt.js';
import { isBuiltIn } from '../model/built-in.js';
import { getEndReason } from '../model/attempt.js';

const DAY_MS = 86_400_000;

/** Creates a project's store on an open database; `now` returns milliseconds since the epoch. */
export function createStore(db: Database, project: string, now: () => number): Store {
  const context: StoreContext = { db, project, now: () => new Date(now()).toISOString() };
  const escalations = createEscalationTable(context);
  const { refuseFixesOf, ...fixes } = createFixTable(context);
  return {
    ...escalations,
    ...createFlakeTable(context),
    ...fixes,
    startAttempt: (start) => attemptStarted(context, start),
    finishAttempt: (id, attempt) => attemptFinished(context, id, attempt),
    recordHealByOtherFix: (healed) => healedByOtherFix(context, healed),
    recordRevert: async (reversal) => {
      await fixReverted(context, reversal);
      await refuseFixesOf(reversal, 'did-not-hold');
    },
    recordUndo: async (runId) => {
      await runUndone(context, runId);
      await refuseFixesOf({ runId }, 'undone');
    },
    recordFailure: async (signature, runId) => {
      const open = await escalations.findPending(signature);
      return { ...(await recordFailure(context, signature, runId)), open };
    },
    sumLastDay: () => sumCostsSince(db, project, new Date(now() - DAY_MS).toISOString()),
    close: () => db.destroy(),
  };
}

async function attemptStarted(context: StoreContext, start: AttemptStart): Promise<void> {
  await context.db.transaction().execute(async (db) => {
    await touchSignature(db, context, start.signature);
    await db
      .insertInto('attempts')
      .values({ ...start, project: context.project, startedAt: context.now() })
      .execute();
  });
}

async function attemptFinished(context: StoreContext, id: string, attempt: Attempt): Promise<void> {
  await context.db.transaction().execute(async (db) => {
    const finished = await db
      .updateTable('attempts')
      .set({
        finishedAt: context.now(),
        exit: attempt.exit,
        ended: attempt.end.kind,
        costUsd: attempt.usage?.costUsd ?? null,
        files: serializeMasked(attempt.files),
        claim: attempt.claim === null ? null : serializeMasked(attempt.claim),
        because: maskText(getEndReason(attempt)),
        patch: attempt.patch,
      })
      .where('id', '=', id)
      .where('finishedAt', 'is', null)
      .returning(['signature', 'runId'])
      .executeTakeFirst();
    // A finished attempt was already counted.
    if (!finished) return;
    const isFix = attempt.agent !== null && attempt.files.length > 0;
    const { kind } = attempt.end;
    // Failed attempts of the built-in fixer do not count as attempts of the signature (BF-5).
    if (isBuiltIn(attempt) && kind !== 'green') return;
    await changeCount(db, context, { ...finished, kind, isFix });
  });
}

async function healedByOtherFix(context: StoreContext, healed: Occurrence): Promise<void> {
  await context.db.transaction().execute(async (db) => {
    await touchSignature(db, context, healed.signature);
    await markHealed(db, context, healed);
  });
}

async function fixReverted(context: StoreContext, reversal: FixReversal): Promise<void> {
  const { runId, causeId, reason } = reversal;
  await context.db.transaction().execute(async (db) => {
    await markKeptTakenOut(db, runId, reason).where('causeId', '=', causeId).execute();
    await markUnhealed(db, reversal);
  });
}

async function runUndone(context: StoreContext, runId: string): Promise<void> {
  await context.db.transaction().execute(async (db) => {
    await markKeptTakenOut(db, runId, 'a person undid it').execute();
    await markUndone(db, runId);
  });
}

/** Marks the fixes that a run has kept so far as taken out. */
function markKeptTakenOut(db: Database, runId: string, reason: string) {
  return db
    .updateTable('attempts')
    .set({ ended: 'taken-out', because: maskText(reason) })
    .where('runId', '=', runId)
    .where('ended', 'in', ['green', 'changed']);
}
