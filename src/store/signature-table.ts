import { type Selectable, sql } from 'kysely';
import { type Attempt, type AttemptEnd, attemptShape, createAttempt } from '../model/attempt.js';
import { isBuiltIn } from '../model/built-in.js';
import { categoryShape } from '../model/diagnosis.js';
import { decisionShape, type PersonsDecision } from '../model/escalation.js';
import { parseJson } from '../parse-json.js';
import { decideCountChange, type EarlierFix, noEarlierTries } from '../model/earlier-runs.js';
import type { FailureHistory, Occurrence } from './store.js';
import { parseRow, type Database, type StoreContext, type Tables } from './tables.js';

/** How many failed attempts a prompt mentions; more would add nothing new. */
const MAX_TRIES = 5;

export function recordFailure(
  context: StoreContext,
  signature: string,
  runId: string,
): Promise<Omit<FailureHistory, 'openEscalation'>> {
  return context.db.transaction().execute(async (db) => {
    await touchSignature(db, context, signature);
    const row = await db
      .selectFrom('signatures')
      .selectAll()
      .where('signature', '=', signature)
      .executeTakeFirst();
    const decision = parseDecision(row?.decision ?? null);
    // A chosen patch is tried once.
    if (decision?.chosen)
      await db.updateTable('signatures').set({ decision: null }).where('signature', '=', signature).execute();
    const fix = row?.healedAt && row.healedIn !== runId ? await readLastFix(db, row) : null;
    return {
      tries: row ? { count: row.count, failedFixes: row.failedFixes } : noEarlierTries,
      failedAttempts: await readFailedTries(db, signature, row?.healedAt ?? ''),
      fix,
      guidance: row?.guidance ?? null,
      decision,
    };
  });
}

/** Returns a person's decision; null if it is invalid, which counts as no decision. */
function parseDecision(text: string | null): PersonsDecision | null {
  return text === null ? null : (decisionShape.safeParse(parseJson(text)).data ?? null);
}

/** Creates the signature's row if it does not exist, and updates its `lastSeen`. */
export async function touchSignature(
  db: Database,
  { project, now }: StoreContext,
  signature: string,
): Promise<void> {
  const lastSeen = now();
  const zeroCounts = { count: 0, failedFixes: 0, healedTimes: 0 };
  await db
    .insertInto('signatures')
    .values({ signature, project, ...zeroCounts, firstSeen: lastSeen, lastSeen })
    .onConflict((conflict) => conflict.column('signature').doUpdateSet({ lastSeen }))
    .execute();
}

// The database does the arithmetic, so that no concurrent count is lost (ME-10).

export async function changeCount(
  db: Database,
  context: StoreContext,
  attempt: Occurrence & { readonly kind: AttemptEnd['kind']; readonly isFix: boolean },
): Promise<void> {
  const change = decideCountChange(attempt.kind);
  if (change === 'leaves') return;
  if (change === 'resets') return markHealed(db, context, attempt);
  await sql`update signatures set count = count + 1, failed_fixes = failed_fixes + ${attempt.isFix ? 1 : 0}
    where signature = ${attempt.signature}`.execute(db);
}

/** Resets the count of a healed signature and deletes its guidance, which is no longer needed. A run heals a signature at most once. */
export async function markHealed(
  db: Database,
  { now }: StoreContext,
  { signature, runId }: Occurrence,
): Promise<void> {
  await sql`update signatures set count = 0, failed_fixes = 0, guidance = null, decision = null,
    healed_times = healed_times + case when healed_in = ${runId} then 0 else 1 end,
    healed_at = ${now()}, healed_in = ${runId} where signature = ${signature}`.execute(db);
}

/** Revokes a heal of this run: it counts as one failed fix, without restoring the count from before the heal. */
export async function markUnhealed(db: Database, { signature, runId }: Occurrence): Promise<void> {
  await sql`update signatures set count = 1, failed_fixes = 1,
    healed_times = healed_times - 1, healed_at = null, healed_in = null
    where signature = ${signature} and healed_in = ${runId}`.execute(db);
}

/** Revokes all heals of a run that a person undid. */
export async function markUndone(db: Database, runId: string): Promise<void> {
  await sql`update signatures set healed_at = null, healed_in = null where healed_in = ${runId}`.execute(db);
}

async function readFailedTries(db: Database, signature: string, since: string): Promise<Attempt[]> {
  const rows = await db
    .selectFrom('attempts')
    .selectAll()
    .where('signature', '=', signature)
    // Attempts that made progress count, too, because the error that they had fixed is back.
    .where('ended', 'in', ['still-failing', 'vanished', 'changed', 'taken-out'])
    .where('finishedAt', '>', since)
    .orderBy('finishedAt', 'desc')
    .limit(MAX_TRIES)
    .execute();
  return rows.map(parseAttempt).reverse();
}

async function readLastFix(db: Database, row: Selectable<Tables['signatures']>): Promise<EarlierFix> {
  const lastGreen = await db
    .selectFrom('attempts')
    .selectAll()
    .where('signature', '=', row.signature)
    .where('ended', '=', 'green')
    .orderBy('finishedAt', 'desc')
    .executeTakeFirst();
  const attempt = lastGreen ? parseAttempt(lastGreen) : null;
  return {
    runId: row.healedIn ?? '',
    healedAt: row.healedAt ?? '',
    category: categoryShape.nullable().catch(null).parse(lastGreen?.category),
    times: row.healedTimes,
    agent: attempt?.agent ?? null,
    summary: attempt?.claim?.summary ?? null,
    files: attempt?.files ?? [],
    patch: attempt?.patch ?? null,
  };
}

/** Converts a stored attempt. Its patch path is relative to any run's folder, since all run folders are siblings. */
function parseAttempt(row: Selectable<Tables['attempts']>): Attempt {
  const attempt = {
    ...createAttempt(row.n),
    agent: row.agent,
    slashCommand: row.agent === null || isBuiltIn(row) ? null : `/${row.agent}`,
    runner: row.runner,
    exit: row.exit,
    claim: row.claim ?? 'null',
    files: row.files ?? '[]',
    patch: row.patch === null ? null : `../${row.runId}/${row.patch}`,
    end:
      row.ended === 'green' ? { kind: 'green', proof: [] } : { kind: row.ended, because: row.because ?? '' },
  };
  return parseRow(attemptShape, attempt, ['claim', 'files']);
}
