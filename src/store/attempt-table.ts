import type { Attempt } from '../core/attempt.js';
import { isBuiltIn } from '../core/built-in-fixer.js';
import type { AttemptStart, StoreContext, CauseEnd, FixReverted, Store } from './store.js';
import { changeCount, markHealed, markUndone, markUnhealed, see } from './signature-table.js';
import { storedJson, storedText } from './stored-text.js';
import type { Database } from './tables.js';

/** The part of the store that keeps attempts and the outcomes of causes. */
export function attemptTable(
  context: StoreContext,
): Pick<Store, 'attemptStarted' | 'attemptFinished' | 'causeEnded' | 'fixReverted' | 'runUndone'> {
  return {
    attemptStarted: (start) => attemptStarted(context, start),
    attemptFinished: (id, attempt) => attemptFinished(context, id, attempt),
    causeEnded: (end) => causeEnded(context, end),
    fixReverted: (end) => fixReverted(context, end),
    runUndone: (runId) => runUndone(context, runId),
  };
}

async function attemptStarted(context: StoreContext, start: AttemptStart): Promise<void> {
  await context.db.transaction().execute(async (db) => {
    await see(db, context, start.signature);
    await db
      .insertInto('attempts')
      .values({
        id: start.id,
        run_id: start.runId,
        cause_id: start.causeId,
        project: context.project,
        signature: start.signature,
        n: start.n,
        agent: start.agent,
        started_at: context.now(),
      })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
  });
}

async function attemptFinished(context: StoreContext, id: string, attempt: Attempt): Promise<void> {
  await context.db.transaction().execute(async (db) => {
    const finished = await db
      .updateTable('attempts')
      .set({
        finished_at: context.now(),
        runner: attempt.runner,
        outcome: attempt.outcome,
        judged: attempt.judged,
        cost_usd: attempt.usage?.costUsd ?? null,
        files: storedJson(attempt.files),
        claim: attempt.claim === null ? null : storedJson(attempt.claim),
        failed_because: storedText(attempt.failedBecause),
        patch: attempt.patch,
        taken_back: attempt.reverted ? 1 : 0,
      })
      .where('id', '=', id)
      .where('finished_at', 'is', null)
      .returning(['signature', 'run_id'])
      .executeTakeFirst();
    // Already finished, so it has been counted.
    if (!finished) return;
    const isFix = attempt.agent !== null && attempt.files.length > 0;
    const of = { signature: finished.signature, runId: finished.run_id };
    // A fix that healed its test but broke another one has failed.
    const judged = attempt.judged === 'green' && attempt.reverted ? 'still-failing' : attempt.judged;
    // Failed attempts of the built-in fixer do not count as attempts of the signature (BF-5).
    if (isBuiltIn(attempt) && judged !== 'green') return;
    await changeCount(db, context, { ...of, judged, isFix });
  });
}

async function causeEnded(context: StoreContext, end: CauseEnd): Promise<void> {
  const verdict = { verdict: end.verdict, reason: storedText(end.reason), ended_at: context.now() };
  await context.db.transaction().execute(async (db) => {
    const before = await db
      .selectFrom('causes')
      .select('verdict')
      .where('run_id', '=', end.runId)
      .where('id', '=', end.causeId)
      .executeTakeFirst();
    await db
      .insertInto('causes')
      .values({
        run_id: end.runId,
        id: end.causeId,
        project: context.project,
        signature: end.signature,
        category: end.category,
        ...verdict,
      })
      .onConflict((conflict) => conflict.columns(['run_id', 'id']).doUpdateSet(verdict))
      .execute();
    if (end.verdict === 'healed' && end.bySharedFix && before?.verdict !== 'healed') {
      await see(db, context, end.signature);
      await markHealed(db, context, end);
    }
  });
}

async function fixReverted(context: StoreContext, end: FixReverted): Promise<void> {
  await context.db.transaction().execute(async (db) => {
    await takenBack(db, end.runId, end.reason).where('cause_id', '=', end.causeId).execute();
    await markUnhealed(db, end);
  });
}

async function runUndone(context: StoreContext, runId: string): Promise<void> {
  await context.db.transaction().execute(async (db) => {
    await takenBack(db, runId, 'a person undid it').execute();
    await db
      .updateTable('causes')
      .set({ verdict: 'undone' })
      .where('run_id', '=', runId)
      .where('verdict', '=', 'healed')
      .execute();
    await markUndone(db, runId);
  });
}

/** Marks the fixes of a run that were kept until now as taken back. */
function takenBack(db: Database, runId: string, reason: string) {
  return db
    .updateTable('attempts')
    .set({ taken_back: 1, failed_because: storedText(reason) })
    .where('run_id', '=', runId)
    .where('judged', 'in', ['green', 'changed'])
    .where('taken_back', '=', 0);
}
