import { minimalSet } from '../blame/minimal-set.js';
import type { RegressionResult } from '../event.js';
import { attemptDecided } from './attempt/attempt-decided.js';
import { revertChanges } from './attempt/try-fix.js';
import { endCause } from './end-cause.js';
import { type CauseRecord, changesOf, keptAttempts, type Progress } from './progress.js';
import { redAmong, suiteKey } from './red-among.js';
import { tellDecided } from './tell-tests.js';

/** Reverts the fixes that broke these tests. */
export async function revertWhatBroke(
  progress: Progress,
  kept: readonly CauseRecord[],
  broken: ReadonlySet<string>,
): Promise<{ broke: RegressionResult['broke']; left: ReadonlySet<string> }> {
  const { session } = progress;
  const tests = new Map<CauseRecord, string[]>();
  for (const [id, records] of await brokenBy(progress, kept, broken))
    for (const record of records) tests.set(record, [...(tests.get(record) ?? []), id]);
  const reverted = [...tests.keys()];
  if (reverted.length > 0) await revertFixes(progress, reverted.flatMap(changesOf));
  for (const [record, ids] of tests) await reject(progress, record, becauseOf(progress, ids));
  const known = new Set([...tests.values()].flat());
  const left = new Set([...broken].filter((id) => !known.has(id)));
  const broke = [...tests].map(([record, ids]) => ({ causeId: record.cause.id, tests: ids }));
  if (reverted.length < 2 || session.signal.aborted) return { broke, left };
  // No run has shown the tests without all of these fixes.
  const { red } = await redAmong(progress, { ids: [...broken], of: broken });
  return { broke, left: red };
}

/**
 * Finds the fixes without which each of these tests is green. First, each fix is taken out by itself, newest first: the suite is then nearly as
 * it will be. A test that is red without any single one may have been broken by several: the smallest such set is sought. If none is found, all
 * fixes are in the tree again; otherwise, the caller reverts those found.
 */
async function brokenBy(
  progress: Progress,
  kept: readonly CauseRecord[],
  broken: ReadonlySet<string>,
): Promise<Map<string, readonly CauseRecord[]>> {
  const { signal, workspace } = progress.session;
  const newestFirst = kept.toReversed();
  const ran = new Map<string, ReadonlySet<string>>();
  const redWithout = async (records: readonly CauseRecord[]): Promise<ReadonlySet<string> | null> => {
    const changes = records.flatMap(changesOf);
    const key = changes.toSorted().join();
    const known = ran.get(key);
    if (known || signal.aborted) return known ?? null;
    await workspace.without(changes);
    const { red } = await redAmong(progress, { ids: [...broken], of: broken });
    if (signal.aborted) return null;
    ran.set(key, red);
    return red;
  };
  const found = new Map<string, readonly CauseRecord[]>();
  for (const record of newestFirst) {
    const left = [...broken].filter((id) => !found.has(id));
    const red = left.length > 0 && (await redWithout([record]));
    for (const id of left) if (red && !red.has(id)) found.set(id, [record]);
  }
  for (const id of broken) {
    if (found.has(id)) continue;
    const test = async (records: readonly CauseRecord[]) => {
      const red = await redWithout(records);
      return red && (red.has(id) ? 'red' : 'green');
    };
    const several = await minimalSet(newestFirst, { test, apart: () => 0 });
    if (several?.isMinimal) found.set(id, several.set);
  }
  if (found.size === 0 && ran.size > 0) await workspace.without([]);
  return found;
}

function becauseOf({ session }: Progress, ids: readonly string[]): string {
  if (ids.includes(suiteKey)) return 'its fix broke the suite itself and was reverted';
  const { tests } = session.bus.run();
  const names = ids.slice(0, 3).map((id) => tests.get(id)?.title.at(-1) ?? '');
  const which = ids.length === 1 ? 'another test' : `${ids.length} other tests`;
  return `its fix broke ${which} (${names.join(', ')}) and was reverted`;
}

/** Reverts fixes for good, and rejects those that were built on them and cannot be applied without them. */
export async function revertFixes(progress: Progress, changes: readonly string[]): Promise<void> {
  const lost = await revertChanges(progress.session, changes);
  const isLost = (one: CauseRecord) => changesOf(one).some((id) => lost.includes(id));
  for (const record of progress.causes.filter(isLost)) {
    const reason = 'its fix was built on one that was reverted, and was reverted with it';
    await reject(progress, record, reason);
  }
}

/** Rejects a fix that achieved its purpose but was reverted for its side effects; the cause's reason says so. */
async function reject(progress: Progress, record: CauseRecord, reason: string): Promise<void> {
  const { session } = progress;
  const kept = keptAttempts(record);
  const attempts = record.attempts.map((one) => (kept.includes(one) ? { ...one, reverted: true } : one));
  const causeId = record.cause.id;
  const { unproven, ...rest } = record;
  if (unproven?.by === 'own-fix') {
    const { attemptId: id } = unproven.healed;
    const attempt = attempts.at(-1);
    if (attempt)
      await attemptDecided(session, { causeId, id, attempt: { ...attempt, failedBecause: reason } });
  } else {
    const reverted = attempts.filter((one) => !record.attempts.includes(one));
    for (const attempt of reverted) session.bus.emit({ type: 'attempt.judged', causeId, attempt });
  }
  tellDecided(session, record.cause.members, { verdict: 'failed' });
  const others = progress.proofTests.filter((one) => one.causeId !== causeId);
  progress.proofTests.splice(0, Infinity, ...others);
  await endCause(progress, { ...rest, verdict: 'failed', reason, attempts });
  await session.store.fixReverted({ causeId, signature: record.cause.lead.signature, reason });
}
