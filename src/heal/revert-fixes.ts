import { minimalSet } from '../minimal-set.js';
import type { AttemptEnd } from '../model/attempt.js';
import type { Cause } from '../model/cause.js';
import type { Observation } from './judge.js';
import { isHealed } from '../model/verdict.js';
import type { RegressionResult } from '../event.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { isNoTests } from '../playwright/suite-run-of.js';
import {
  changesOf,
  endCause,
  heldAttempt,
  keptAttempts,
  type Progress,
  revealedBy,
  isUnproven,
  causeStateOf,
  verdictOf,
} from './progress.js';
import { attemptDecided, revertChanges } from './attempt/end-attempt.js';
import { suiteKey } from './observations.js';
import { notRun } from './retest.js';
import { announceVerdicts, announceTests } from './tell-tests.js';
import { rememberedAs } from './remembered-as.js';

interface RevertResult {
  broke: RegressionResult['broke'];
  /** The tests that are red although no fix is to blame. */
  red: ReadonlySet<string>;
  /** Those among them that were green, too, with the same fixes. */
  unsteady: ReadonlySet<string>;
}

/** Reverts the fixes that broke these tests, once that is proven as a heal is. */
export async function revertFixesThatBroke(
  progress: Progress,
  kept: readonly Cause[],
  broken: ReadonlySet<string>,
): Promise<RevertResult> {
  const { session } = progress;
  const tests = new Map<Cause, string[]>();
  const culprits = await fixesThatBroke(progress, kept, broken);
  const unsteady = await unsteadyAmong(progress, culprits);
  for (const [id, causes] of culprits)
    for (const cause of unsteady.has(id) ? [] : causes) tests.set(cause, [...(tests.get(cause) ?? []), id]);
  const reverted = [...tests.keys()];
  if (reverted.length > 0) await revertFixes(progress, changesWith(progress, reverted));
  for (const [cause, ids] of tests) await reject(progress, cause, becauseOf(progress, ids));
  const known = new Set([...tests.values()].flat());
  const left = new Set([...broken].filter((id) => !known.has(id)));
  const broke = [...tests].map(([{ id: causeId }, ids]) => ({ causeId, tests: ids }));
  if (reverted.length < 2 || session.signal.aborted) return { broke, red: left, unsteady };
  // No run has shown the tests without all of these fixes.
  const { red } = await redAmong(progress, { ids: [...broken], of: broken });
  return { broke, red: red, unsteady };
}

/**
 * Repeats what seems to show that fixes broke tests, as a proof does: green without the fixes, red with them. Returns the tests that were not.
 */
async function unsteadyAmong(
  progress: Progress,
  culprits: ReadonlyMap<string, readonly Cause[]>,
): Promise<ReadonlySet<string>> {
  const { signal, settings, workspace } = progress.session;
  const unsteady = new Set<string>();
  const look = async (isOf: (causes: readonly Cause[]) => boolean, take: 'red' | 'green') => {
    const ids = [...culprits].flatMap(([id, causes]) => (isOf(causes) && !unsteady.has(id) ? [id] : []));
    if (ids.length === 0 || signal.aborted) return;
    const { red } = await redAmong(progress, { ids, of: new Set(ids) });
    for (const id of ids) if (red.has(id) === (take === 'red')) unsteady.add(id);
  };
  for (const causes of settings.verify.repeat > 1 ? new Set(culprits.values()) : []) {
    await workspace.takeOut(changesWith(progress, causes));
    for (let n = 1; n < settings.verify.repeat; n += 1) await look((of) => of === causes, 'red');
  }
  const { flips } = settings.verify;
  if (culprits.size > 0 && flips + unsteady.size > 0 && !signal.aborted) await workspace.takeOut([]);
  for (let flip = 0; flip < flips; flip += 1) await look(() => true, 'green');
  return signal.aborted ? new Set() : unsteady;
}

/**
 * Finds the fixes without which each of these tests is green. First, each fix is taken out by itself, newest first: the suite is then nearly as
 * it will be. A test that is red without any single one may have been broken by several: the smallest such set is sought. If none is found, all
 * fixes are in the tree again; otherwise, the caller reverts those found.
 */
async function fixesThatBroke(
  progress: Progress,
  kept: readonly Cause[],
  broken: ReadonlySet<string>,
): Promise<Map<string, readonly Cause[]>> {
  const { signal, workspace } = progress.session;
  const newestFirst = kept.toReversed();
  const ran = new Map<string, ReadonlySet<string>>();
  const redWithout = async (causes: readonly Cause[]): Promise<ReadonlySet<string> | null> => {
    const changes = changesWith(progress, causes);
    const key = changes.toSorted().join();
    const known = ran.get(key);
    if (known || signal.aborted) return known ?? null;
    await workspace.takeOut(changes);
    const { red } = await redAmong(progress, { ids: [...broken], of: broken });
    if (signal.aborted) return null;
    ran.set(key, red);
    return red;
  };
  const culprits = new Map<string, readonly Cause[]>();
  for (const cause of newestFirst) {
    const open = [...broken].filter((id) => !culprits.has(id));
    const red = open.length > 0 && (await redWithout([cause]));
    const alone = [cause];
    for (const id of open) if (red && !red.has(id)) culprits.set(id, alone);
  }
  for (const id of broken) {
    if (culprits.has(id)) continue;
    const test = async (causes: readonly Cause[]) => {
      const red = await redWithout(causes);
      return red && (red.has(id) ? 'red' : 'green');
    };
    const several = await minimalSet(newestFirst, { test, apart: () => 0 });
    if (several?.isMinimal) culprits.set(id, several.set);
  }
  if (culprits.size === 0 && ran.size > 0) await workspace.takeOut([]);
  return culprits;
}

function becauseOf({ session }: Progress, ids: readonly string[]): string {
  if (ids.includes(suiteKey)) return 'its fix broke the suite itself and was reverted';
  const { tests } = session.bus.run();
  const names = ids.slice(0, 3).map((id) => tests.get(id)?.title.at(-1) ?? '');
  const which = ids.length === 1 ? 'another test' : `${ids.length} other tests`;
  return `its fix broke ${which} (${names.join(', ')}) and was reverted`;
}

/** Returns the ids of the changes of these causes, and of the causes that their fixes revealed. */
function changesWith(progress: Progress, causes: readonly Cause[]): string[] {
  const all = causes.flatMap((cause) => [cause, ...revealedBy(progress, cause)]);
  return [...new Set(all.flatMap((cause) => changesOf(progress, cause)))];
}

/** Reverts fixes for good, and rejects those that were built on them and cannot be applied without them. */
export async function revertFixes(progress: Progress, changes: readonly string[]): Promise<void> {
  const lost = await revertChanges(progress.session, changes);
  for (const cause of progress.causes.values()) {
    if (!changesOf(progress, cause).some((id) => lost.includes(id))) continue;
    const reason = 'its fix was built on one that was reverted, and was reverted with it';
    await reject(progress, cause, reason);
  }
}

/**
 * Takes out fixes that only led to other errors, none of which was healed: a chain of attempts that does not end in a proven heal leaves nothing
 * (HN-1). `refuted` holds the ids of causes whose fix did not hold in the proof. Returns the ids of causes that are gone with such a fix.
 */
export async function revertDeadEnds(
  progress: Progress,
  refuted: ReadonlyMap<string, unknown> = new Map(),
): Promise<ReadonlySet<string>> {
  const isDead = (cause: Cause) =>
    verdictOf(progress, cause) === 'superseded' &&
    heldAttempt(progress, cause) !== null &&
    !leadsToHeal(progress, cause, refuted);
  const dead = [...progress.causes.values()].filter(isDead);
  const gone = new Set(dead.flatMap((cause) => revealedBy(progress, cause)).map(({ id }) => id));
  if (dead.length > 0)
    await revertFixes(
      progress,
      dead.flatMap((cause) => changesOf(progress, cause)),
    );
  for (const cause of dead) {
    const { ended = null } = causeStateOf(progress, cause) ?? {};
    if (ended === null || !heldAttempt(progress, cause)) continue;
    const reason = `${ended.reason}; that one was not healed, and the fix was reverted`;
    await decideLast(progress, cause, { kind: 'taken-out', because: reason });
    await endCause(progress, cause, { verdict: 'superseded', reason });
  }
  return gone;
}

/** Whether a test is green with this fix and what followed it, so far as is known yet. */
function leadsToHeal(progress: Progress, cause: Cause, refuted: ReadonlyMap<string, unknown>): boolean {
  const later = revealedBy(progress, cause);
  const ids = new Set([cause, ...later].map(({ id }) => id));
  const holds = progress.proofTests.some(
    ({ causeId, ended, isOther }) => ids.has(causeId) && !isOther && ended === null && !refuted.has(causeId),
  );
  const isProven = (other: Cause) =>
    isHealed(verdictOf(progress, other) ?? 'failed') && !isUnproven(progress, other);
  return holds || later.some(isProven);
}

/** Decides the held attempt at a cause, if there is one: as it ended, or with another end. */
export async function decideLast(progress: Progress, cause: Cause, end?: AttemptEnd): Promise<void> {
  const held = heldAttempt(progress, cause);
  if (held === null) return;
  const id = progress.tried.get(cause.id)?.attemptId ?? null;
  await attemptDecided(progress.session, {
    cause,
    id,
    attempt: { ...held, end: end ?? held.end },
  });
}

/** Rejects a fix that achieved its purpose but was reverted for its side effects; the cause's reason says so. */
async function reject(progress: Progress, cause: Cause, reason: string): Promise<void> {
  const { session } = progress;
  const causeId = cause.id;
  const later = revealedBy(progress, cause).filter((other) => keptAttempts(progress, other).length > 0);
  const end: AttemptEnd = { kind: 'taken-out', because: reason };
  await decideLast(progress, cause, end);
  for (const attempt of keptAttempts(progress, cause))
    session.bus.emit({ type: 'attempt.judged', causeId, attempt: { ...attempt, end } });
  announceVerdicts(session, cause.members, { verdict: 'failed' });
  const others = progress.proofTests.filter((test) => test.causeId !== causeId);
  progress.proofTests.splice(0, Infinity, ...others);
  await endCause(progress, cause, { verdict: 'failed', reason });
  await session.store.fixReverted({
    runId: session.folder.runId,
    causeId,
    signature: rememberedAs(cause.lead),
    reason,
  });
  for (const other of later) {
    await revertFixes(progress, changesOf(progress, other));
    const after = 'the error it healed had been revealed by a fix that was reverted';
    await reject(progress, other, after);
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
interface SuiteResult {
  readonly red: ReadonlySet<string>;
  /** Null if nothing could be run. */
  readonly run: SuiteRun | null;
}

/**
 * Returns which of the tests are red now; all of them if the suite cannot run. One that did not run is run again, and decides nothing if it does not
 * run then either. The suite itself may fail although its tests pass (a worker's teardown, a global teardown); whether it still does, only the
 * whole selection shows.
 */
export async function redAmong(
  { session, rerunIds }: Progress,
  { ids, all = false, of, purpose = 'regression' }: RedRequest,
): Promise<SuiteResult> {
  if ((await session.prepare()) !== null) return { red: of, run: null };
  const isWhole = all || ids.includes(suiteKey);
  const runThese = (these: readonly string[]) =>
    session.runAgain({
      ids: [...new Set(these.flatMap((id) => rerunIds[id] ?? [id]))],
      purpose,
      causeId: null,
    });
  const run = isWhole ? await session.runAgain({ ids: null, purpose, causeId: null }) : await runThese(ids);
  // What a person chose to take out may be all that was selected.
  const isEmptied = session.observations.gone.size > 0 && run.suiteFailure?.errors.every(isNoTests);
  if (run.tests.length === 0) return { red: isEmptied ? new Set() : of, run };
  const missed = notRun(run).filter((id) => of.has(id));
  const again = missed.length > 0 && !session.signal.aborted ? await runThese(missed) : null;
  const repeated = (again?.tests ?? []).filter(({ test }) => missed.includes(test.id));
  const tests = [...run.tests, ...repeated].filter(({ outcome }) => outcome !== 'not-run');
  const red = new Set([
    ...tests
      .filter(({ outcome }) => outcome !== 'expected' && outcome !== 'flaky')
      .map(({ test }) => test.id),
    ...(run.suiteFailure ? [suiteKey] : []),
  ]);
  if (!session.signal.aborted) {
    const ran = [...tests.map(({ test }) => test.id), ...(isWhole ? [suiteKey] : [])];
    const observed = ran
      .filter((id) => of.has(id))
      .map((id): [string, Observation] => [id, endedAs(red.has(id))]);
    session.observations.add(new Map(observed));
    session.testFiles.observe({ tests });
    announceTests(session, run);
  }
  return { red: new Set([...red].filter((id) => of.has(id))), run };
}

/** The reason of its failure is not needed. */
function endedAs(isRed: boolean): Observation {
  return { ended: isRed ? 'failed' : 'passed', failure: null, suiteFailure: null };
}
