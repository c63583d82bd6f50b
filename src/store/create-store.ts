import { sql } from 'kysely';
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
import { type Database, type StoreContext, serializeMasked, maskText } from './tables.js';
import type { Attempt } from '../model/attempt.js';
import { builtIn, isBuiltIn } from '../model/built-in.js';
import { getEndReason } from '../model/attempt.js';
import type { DayCosts } from '../model/spent.js';

const DAY_MS = 86_400_000;

/** Creates a project's store on an open database; `now` returns milliseconds since the epoch. */
export function createStore(db: Database, project: string, now: () => number): Store {
  const context: StoreContext = { db, project, now: () => new Date(now()).toISOString() };
  const escalations = createEscalationTable(context);
  const { refuseFixesInRun, ...fixes } = createFixTable(context);
  return {
    ...escalations,
    ...createFlakeTable(context),
    ...fixes,
    startAttempt: (start) => insertAttempt(context, start),
    finishAttempt: (id, attempt) => storeAttemptResult(context, id, attempt),
    recordHealByOtherFix: (healed) => storeHeal(context, healed),
    recordRevert: async (reversal) => {
      await storeRevert(context, reversal);
      await refuseFixesInRun(reversal, 'did-not-hold');
    },
    recordUndo: async (runId) => {
      await storeUndo(context, runId);
      await refuseFixesInRun({ runId }, 'undone');
    },
    recordFailure: async (signature, runId) => {
      const openEscalation = await escalations.findPending(signature);
      return { ...(await recordFailure(context, signature, runId)), openEscalation };
    },
    sumLastDay: () => sumCostsSince(context, new Date(now() - DAY_MS).toISOString()),
    close: () => db.destroy(),
  };
}

async function insertAttempt(context: StoreContext, start: AttemptStart): Promise<void> {
  await context.db.transaction().execute(async (db) => {
    await touchSignature(db, context, start.signature);
    await db
      .insertInto('attempts')
      .values({ ...start, project: context.project, startedAt: context.now() })
      .execute();
  });
}

async function storeAttemptResult(context: StoreContext, id: string, attempt: Attempt): Promise<void> {
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

async function storeHeal(context: StoreContext, healed: Occurrence): Promise<void> {
  await context.db.transaction().execute(async (db) => {
    await touchSignature(db, context, healed.signature);
    await markHealed(db, context, healed);
  });
}

async function storeRevert(context: StoreContext, reversal: FixReversal): Promise<void> {
  const { runId, causeId, reason } = reversal;
  await context.db.transaction().execute(async (db) => {
    await markReverted(db, runId, reason).where('causeId', '=', causeId).execute();
    await markUnhealed(db, reversal);
  });
}

async function storeUndo(context: StoreContext, runId: string): Promise<void> {
  await context.db.transaction().execute(async (db) => {
    await markReverted(db, runId, 'a person undid it').execute();
    await markUndone(db, runId);
  });
}

/** Marks the kept fixes of a run as reverted. */
function markReverted(db: Database, runId: string, reason: string) {
  return db
    .updateTable('attempts')
    .set({ ended: 'taken-out', because: maskText(reason) })
    .where('runId', '=', runId)
    .where('ended', 'in', ['green', 'changed']);
}

/** Sums the costs of agents since a time (ISO 8601). The built-in fixer costs nothing. */
async function sumCostsSince({ db, project }: StoreContext, since: string): Promise<DayCosts> {
  const { rows } = await sql<DayCosts>`
    select cast(count(*) as integer) as agent_runs, coalesce(sum(cost_usd), 0) as cost_usd from attempts
    where project = ${project} and agent is not null and runner <> ${builtIn} and started_at >= ${since}`.execute(
    db,
  );
  return rows[0] ?? { agentRuns: 0, costUsd: 0 };
}
