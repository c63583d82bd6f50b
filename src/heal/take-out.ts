import { minimalSet } from '../blame/minimal-set.js';
import type { Attempt, AttemptEnd } from '../core/attempt.js';
import type { Observation } from '../core/judge.js';
import { isHealed } from '../core/verdict.js';
import type { RegressionResult } from '../event.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import {
  attemptDecided,
  type CauseRecord,
  changesOf,
  endCause,
  keptAttempts,
  type Progress,
  put,
  revealedBy,
} from './progress.js';
import type { Session } from './session.js';
import { suiteKey } from './observations.js';
import { tellDecided, tellSeen } from './tell-tests.js';

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
  if (reverted.length > 0) await revertFixes(progress, changesWith(progress, reverted));
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
    const changes = changesWith(progress, records);
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

/** Returns the ids of the changes of these causes, and of those that would be nothing without them: what a fix revealed is there only with it. */
function changesWith(progress: Progress, records: readonly CauseRecord[]): string[] {
  return [...new Set(records.flatMap((one) => [one, ...revealedBy(progress, one)]).flatMap(changesOf))];
}

/** Reverts changes for good; returns the ids of changes that were built on them and had to be reverted with them. */
export async function revertChanges(
  { workspace, bus }: Pick<Session, 'workspace' | 'bus'>,
  ids: readonly string[],
): Promise<readonly string[]> {
  const { leftAlone, lost } = await workspace.revert(ids);
  if (leftAlone.length > 0) {
    const message = `These files were not reverted, because they changed again after the agent: ${leftAlone.join(', ')}`;
    bus.emit({ type: 'run.warning', message });
  }
  return lost;
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

/**
 * Takes out the fixes that led to other errors of which none was healed: a chain of attempts that does not end in a proven heal leaves nothing
 * (HN-1). `refuted` holds the ids of causes whose fix did not hold in the proof. Returns the ids of causes that are gone with such a fix.
 */
export async function takeOutDeadEnds(
  progress: Progress,
  refuted: ReadonlyMap<string, unknown> = new Map(),
): Promise<ReadonlySet<string>> {
  const isDead = (one: CauseRecord) =>
    one.verdict === 'superseded' && one.unproven !== undefined && !leadsToHeal(progress, one, refuted);
  const dead = progress.causes.filter(isDead);
  const gone = new Set(dead.flatMap((one) => revealedBy(progress, one)).map(({ cause }) => cause.id));
  if (dead.length > 0) await revertFixes(progress, dead.flatMap(changesOf));
  for (const { cause } of dead) {
    const record = progress.causes.find((one) => one.cause.id === cause.id);
    if (!record?.unproven) continue;
    const reason = `${record.reason}; that one was not healed, and the fix was reverted`;
    const attempts = await decideLast(progress, record, { kind: 'taken-out', because: reason });
    await endCause(progress, { ...withoutProof(record), attempts, reason });
  }
  return gone;
}

/** Whether a test is green with this fix and what followed it, so far as is known yet. */
function leadsToHeal(
  progress: Progress,
  record: CauseRecord,
  refuted: ReadonlyMap<string, unknown>,
): boolean {
  const later = revealedBy(progress, record);
  const ids = new Set([record, ...later].map(({ cause }) => cause.id));
  const holds = progress.proofTests.some(
    ({ causeId, ended, isOther }) => ids.has(causeId) && !isOther && ended === null && !refuted.has(causeId),
  );
  return holds || later.some((one) => isHealed(one.verdict) && !one.unproven);
}

/** Decides the last attempt of a cause, as it ended or with another end, unless another cause's fix healed it; returns all of its attempts. */
export async function decideLast(
  progress: Progress,
  record: CauseRecord,
  end?: AttemptEnd,
): Promise<readonly Attempt[]> {
  const last = record.attempts.at(-1);
  if (record.unproven?.by !== 'own-fix' || !last) return record.attempts;
  const attempt = { ...last, end: end ?? last.end };
  const { attemptId: id } = record.unproven.healed;
  await attemptDecided(progress.session, { causeId: record.cause.id, id, attempt });
  const attempts = [...record.attempts.slice(0, -1), attempt];
  put(progress, { ...record, attempts });
  return attempts;
}

/** Returns the record of a decided cause. */
export function withoutProof(record: CauseRecord): CauseRecord {
  const { unproven: _, ...rest } = record;
  return rest;
}

/** Rejects a fix that achieved its purpose but was reverted for its side effects; the cause's reason says so. */
async function reject(progress: Progress, record: CauseRecord, reason: string): Promise<void> {
  const { session } = progress;
  const kept = keptAttempts(record);
  const end: AttemptEnd = { kind: 'taken-out', because: reason };
  const attempts = record.attempts.map((one) => (kept.includes(one) ? { ...one, end } : one));
  const causeId = record.cause.id;
  if (record.unproven?.by === 'own-fix') {
    await decideLast(progress, { ...record, attempts });
  } else {
    const reverted = attempts.filter((one) => !record.attempts.includes(one));
    for (const attempt of reverted) session.bus.emit({ type: 'attempt.judged', causeId, attempt });
  }
  const later = revealedBy(progress, record).filter((one) => keptAttempts(one).length > 0);
  tellDecided(session, record.cause.members, { verdict: 'failed' });
  const others = progress.proofTests.filter((one) => one.causeId !== causeId);
  progress.proofTests.splice(0, Infinity, ...others);
  await endCause(progress, { ...withoutProof(record), verdict: 'failed', reason, attempts });
  await session.store.fixReverted({ causeId, signature: record.cause.lead.signature, reason });
  for (const one of later) {
    await revertFixes(progress, changesOf(one));
    const after = 'the error it healed had been revealed by a fix that was reverted';
    await reject(progress, one, after);
  }
}

interface RedRequest {
  ids: readonly string[];
  /** Runs the whole selection rather than the individual ids. */
  all?: boolean;
  of: ReadonlySet<string>;
  purpose?: 'regression' | 'proof';
}

/** What a run shows of the tests that were green. */
interface Seen {
  readonly red: ReadonlySet<string>;
  /** Null if nothing could be run. */
  readonly run: SuiteRun | null;
}

/**
 * Returns which of the tests are red now; all of them if the suite cannot run. The suite itself may fail although its tests pass (a
 * worker's teardown, a global teardown); whether it still does, only the whole selection shows.
 */
export async function redAmong(
  { session, rerunIds }: Progress,
  { ids, all = false, of, purpose = 'regression' }: RedRequest,
): Promise<Seen> {
  if ((await session.prepare()) !== null) return { red: of, run: null };
  const again = [...new Set(ids.flatMap((id) => rerunIds[id] ?? [id]))];
  const isWhole = all || ids.includes(suiteKey);
  const run = await session.runAgain({ ids: isWhole ? null : again, purpose, causeId: null });
  if (run.tests.length === 0) return { red: of, run };
  const asked = new Set(ids);
  const tests = run.tests.filter(
    ({ test, outcome }) => asked.has(test.id) && outcome !== 'expected' && outcome !== 'flaky',
  );
  const red = new Set([...tests.map(({ test }) => test.id), ...(run.suiteFailure ? [suiteKey] : [])]);
  if (!session.signal.aborted) {
    const ran = [...run.tests.map(({ test }) => test.id), ...(isWhole ? [suiteKey] : [])];
    const shown = ran
      .filter((id) => of.has(id))
      .map((id): [string, Observation] => [id, endedAs(red.has(id))]);
    session.observations.add(new Map(shown));
    tellSeen(session, run);
  }
  return { red: new Set([...red].filter((id) => of.has(id))), run };
}

/** Nobody looks at why it is red. */
function endedAs(isRed: boolean): Observation {
  return { ended: isRed ? 'failed' : 'passed', failure: null, suiteFailure: null };
}
