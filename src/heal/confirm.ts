import { chooseNeighbors, chooseRepresentatives, type GreenTest, groupAlike, ranBefore } from './alike.js';
import type { DiagnosedFailure } from '../model/cause.js';
import { failureKey, formatTitles, listTests } from '../model/failure.js';
import { countNeededRedRuns } from '../model/failure-rate.js';
import { relativePath } from '../paths.js';
import { duration } from '../format.js';
import { groupIntoCauses } from '../diagnose/group.js';
import { createGreenStateCheck } from '../run/last-green.js';
import { isGreen } from './judge.js';
import type { Progress } from './progress.js';
import { retest } from './retest.js';

/** The result of re-running red tests without a change. */
export interface Confirmation {
  /** Failures that occurred again, and those that look like one that did. */
  readonly confirmed: readonly DiagnosedFailure[];
  /** Tests that turned green without a change (HL-7). */
  readonly flaky: readonly DiagnosedFailure[];
  /** Further failures that the re-run revealed. */
  readonly uncovered: readonly DiagnosedFailure[];
  /** The suite's own failure if no test could run this time, so that nothing was confirmed; otherwise null. */
  readonly blockedBy: DiagnosedFailure | null;
}

/**
 * Re-runs failing tests without a change, `verify.confirm` times, before any agent starts (HL-7), and records their traces as evidence. Of tests that
 * failed alike, three run again: if these have one cause, the others join it; if not, the others run again, too. Skips tests that a run of the same
 * tree has already confirmed.
 */
export async function confirm(
  progress: Progress,
  failures: readonly DiagnosedFailure[],
): Promise<Confirmation> {
  const alreadyConfirmed = failures.filter((failure) => isConfirmed(progress, failure));
  const alike = groupAlike(failures.filter((failure) => !alreadyConfirmed.includes(failure)));
  const representatives = new Set(alike.flatMap(chooseRepresentatives));
  const first = await rerunFailures(progress, [...representatives]);
  if (first.blockedBy) return { ...first, confirmed: [] };
  const joined: DiagnosedFailure[] = [];
  const remaining: DiagnosedFailure[] = [];
  for (const group of alike) {
    const others = group.filter((failure) => !representatives.has(failure));
    const keys = new Set(group.map(({ failure }) => failureKey(failure)));
    const causes = groupIntoCauses(first.confirmed.filter(({ failure }) => keys.has(failureKey(failure))));
    const [cause, ...more] = causes;
    if (cause && more.length === 0)
      joined.push(...others.map((failure) => copyDiagnosis(failure, cause.lead)));
    else remaining.push(...others);
  }
  const hint = createLongWaitHint([...alreadyConfirmed, ...first.confirmed]);
  if (hint !== null) progress.session.bus.emit({ type: 'run.warning', message: hint });
  for (const failure of joined) await progress.session.diagnostics.writeFailure(failure);
  const second = await rerunFailures(progress, remaining);
  const green = [...first.flaky, ...second.flaky];
  const isByChance = (failure: DiagnosedFailure) =>
    first.byChance.has(failure) || second.byChance.has(failure);
  const third = await rerunAfterOthers(
    progress,
    green.filter((failure) => !isByChance(failure)),
  );
  return {
    confirmed: [...alreadyConfirmed, ...first.confirmed, ...joined, ...second.confirmed, ...third.confirmed],
    flaky: [...third.flaky, ...green.filter(isByChance)],
    uncovered: [...first.uncovered, ...second.uncovered, ...third.uncovered],
    blockedBy: second.blockedBy,
  };
}

/** A wait of this length deserves a hint, because each re-run of the red test takes as long. */
const LONG_WAIT_MS = 15_000;
const testTimeout = /Test timeout of (\d+) ?ms exceeded/;
const actionError = /\b(?:locator|page|frame)\.(?!goto|waitFor)\w+: /;

/** Explains how to shorten red runs, if an action waits until its test times out; null if none does. */
export function createLongWaitHint(failures: readonly Pick<DiagnosedFailure, 'failure'>[]): string | null {
  const waits = failures.map(({ failure: { errors } }) => {
    const texts = errors.map(({ message }) => message).join('\n');
    return actionError.test(texts) ? Number(testTimeout.exec(texts)?.[1] ?? 0) : 0;
  });
  const longest = Math.max(0, ...waits);
  if (longest < LONG_WAIT_MS) return null;
  return `A red run takes ${duration(longest)}, because an action waits until its test times out: \`use: { actionTimeout: 5_000 }\` in the Playwright config ends it sooner`;
}

/** `byChance` are the flaky tests that were both red and green without the tests that had run before them, so these are not the reason. */
type Rerun = Confirmation & { readonly byChance: ReadonlySet<DiagnosedFailure> };

/** Runs failing tests again. The first time, adds green tests of the same files, to show what happens in a passing test. */
async function rerunFailures(progress: Progress, failures: readonly DiagnosedFailure[]): Promise<Rerun> {
  const { session } = progress;
  let confirmed = [...failures];
  const flaky: DiagnosedFailure[] = [];
  const byChance = new Set<DiagnosedFailure>();
  const uncovered: DiagnosedFailure[] = [];
  for (let round = 0; round < session.settings.verify.confirm && confirmed.length > 0; round += 1) {
    const isAboutSuite = confirmed.some(({ failure }) => failure.scope === 'suite');
    const neighbors = round === 0 ? chooseNeighbors(confirmed, progress.greenTests) : [];
    const ids = [...new Set([...confirmed.flatMap(({ rerunIds }) => rerunIds), ...neighbors])];
    const request = { failures: confirmed, purpose: 'confirm', causeId: null } as const;
    const rerun = await retest(session, isAboutSuite ? request : { ...request, ids });
    if (rerun.suiteFailure && !isAboutSuite && (rerun.run?.tests.length ?? 0) === 0)
      return { confirmed: [], flaky, byChance, uncovered, blockedBy: rerun.suiteFailure };
    const ends = confirmed.map((before) => ({ before, now: rerun.observe(before) }));
    const green = ends.filter(({ now }) => isGreen(now)).map(({ before }) => before);
    flaky.push(...green);
    if (round > 0) for (const failure of green) byChance.add(failure);
    uncovered.push(...rerun.others);
    const files = new Set(listTests(confirmed).map(({ location }) => location.file));
    const along = progress.greenTests.filter(
      ({ test }) => neighbors.includes(test.id) && files.has(test.location.file),
    );
    confirmed = ends
      .filter(({ now }) => !isGreen(now))
      .map(({ before, now }) =>
        addPrecedingTests(listIdsBefore(before, along), combineRuns(before, now.failure ?? now.suiteFailure)),
      );
    for (const failure of confirmed)
      if (failure.evidence.otherRun) await session.diagnostics.writeFailure(failure);
  }
  const lucky = await findGreenByChance(session, confirmed);
  confirmed = confirmed.filter((failure) => !lucky.has(failure));
  for (const failure of lucky) byChance.add(failure);
  return { confirmed, flaky: [...flaky, ...lucky], byChance, uncovered, blockedBy: null };
}

/** Re-runs tests that are probably flaky, because an earlier run saw them green in the same state or flaky; returns those that turn green. */
async function findGreenByChance(
  session: Progress['session'],
  confirmed: readonly DiagnosedFailure[],
): Promise<ReadonlySet<DiagnosedFailure>> {
  const wasGreen = createGreenStateCheck(session.cwd);
  const flakes = new Map(
    (await session.store.listFlakes()).map(({ testId, red, green }) => [testId, { red, runs: red + green }]),
  );
  const needed = new Map<DiagnosedFailure, number>();
  for (const failure of confirmed) {
    const count = (await wasGreen(failure)) ? { red: 1, runs: 2 } : flakes.get(failureKey(failure.failure));
    needed.set(failure, count ? countNeededRedRuns(count) : 0);
  }
  const green = new Set<DiagnosedFailure>();
  for (let reds = 1 + session.settings.verify.confirm; !session.signal.aborted; reds += 1) {
    const suspects = confirmed.filter((failure) => !green.has(failure) && reds < (needed.get(failure) ?? 0));
    if (suspects.length === 0) break;
    const rerun = await retest(session, { failures: suspects, purpose: 'confirm', causeId: null });
    for (const failure of suspects) if (isGreen(rerun.observe(failure))) green.add(failure);
  }
  return green;
}

/** If a run with all earlier tests would take longer than this, only those in the same files run. */
const MAX_RUN_WITH_OTHERS_MS = 180_000;

/**
 * Re-runs tests that were green alone, this time after the tests that ran before them when they were red. A test that is then red, and green again
 * alone, is not flaky: it fails only after the others, so from now on they are part of all its re-runs.
 */
async function rerunAfterOthers(
  progress: Progress,
  green: readonly DiagnosedFailure[],
): Promise<Omit<Confirmation, 'blockedBy'>> {
  const { session, ranTests } = progress;
  const listOtherIds = (failure: DiagnosedFailure) =>
    listIdsBefore(failure, ranTests).filter((id) => !failure.rerunIds.includes(id));
  const tests = green.filter((failure) => listOtherIds(failure).length > 0);
  const unchanged = { confirmed: [], flaky: green, uncovered: [] };
  if (tests.length === 0 || session.signal.aborted) return unchanged;
  const ownIds = tests.flatMap(({ rerunIds }) => rerunIds);
  const all = new Set([...ownIds, ...tests.flatMap(listOtherIds)]);
  const files = new Set(listTests(tests).map(({ location }) => location.file));
  const idsInSameFiles = ranTests.flatMap(({ test }) => (files.has(test.location.file) ? [test.id] : []));
  const isShort = (session.suite.plan.estimateMs([...all]) ?? 0) <= MAX_RUN_WITH_OTHERS_MS;
  const ids = isShort ? [...all] : [...new Set([...ownIds, ...idsInSameFiles.filter((id) => all.has(id))])];
  const rerun = await retest(session, { failures: tests, purpose: 'confirm', causeId: null, ids });
  const redAgain = tests.filter((before) => rerun.observe(before).failure !== null);
  const greenAlone = await findTestsGreenAlone(session, redAgain);
  const confirmed = redAgain.flatMap((before) => {
    const failure = greenAlone.has(before) ? rerun.observe(before).failure : null;
    const earlier = listOtherIds(before).filter((id) => ids.includes(id));
    if (failure === null || earlier.length === 0) return [];
    const setUps = failure.failure.scope === 'test' ? (failure.failure.setUp?.projects ?? []) : [];
    const needed = ranTests.filter(({ test }) => earlier.includes(test.id) && !setUps.includes(test.project));
    const needs = needed.map(({ test }) => test.id);
    const neededTests = needed.map(({ test }) => ({
      name: formatTitles(test.titlePath),
      at: `${relativePath(session.cwd, test.location.file)}:${test.location.line}`,
      writes: failure.writes?.[test.id] ?? [],
    }));
    const first = neededTests.toSorted((a, b) => Number(b.writes.length > 0) - Number(a.writes.length > 0));
    return [
      {
        ...combineRuns(before, failure),
        rerunIds: [...before.rerunIds, ...earlier],
        needs,
        neededTests: first,
      },
    ];
  });
  for (const failure of confirmed) await session.diagnostics.writeFailure(failure);
  const keys = new Set(confirmed.map(({ failure }) => failureKey(failure)));
  const flaky = green.filter(({ failure }) => !keys.has(failureKey(failure)));
  return { confirmed, flaky, uncovered: rerun.others };
}

/** Returns the tests that are green alone a second time, since one green run could be chance. */
async function findTestsGreenAlone(
  session: Progress['session'],
  failures: readonly DiagnosedFailure[],
): Promise<ReadonlySet<DiagnosedFailure>> {
  if (failures.length === 0 || session.signal.aborted) return new Set();
  const ids = [...new Set(failures.flatMap(({ rerunIds }) => rerunIds))];
  const { tests } = await session.suite.rerun({ ids, purpose: 'confirm', causeId: null });
  const green = new Set(tests.flatMap(({ test, outcome }) => (outcome === 'expected' ? test.id : [])));
  return new Set(failures.filter(({ failure }) => green.has(failureKey(failure))));
}

/** Makes all further re-runs of a failure include these tests, after which it was red; the proof shows whether it needs them. */
function addPrecedingTests(along: readonly string[], failure: DiagnosedFailure): DiagnosedFailure {
  return along.length === 0
    ? failure
    : { ...failure, rerunIds: [...new Set([...failure.rerunIds, ...along])], along };
}

/** Returns the ids of the tests that had begun when a test failed. */
function listIdsBefore({ failure }: DiagnosedFailure, tests: readonly GreenTest[]): string[] {
  if (failure.scope === 'suite') return [];
  return tests.flatMap((other) =>
    other.test.id !== failure.test.id && ranBefore(failure, other) ? [other.test.id] : [],
  );
}

/** True if a failure has occurred often enough, most recently in the current tree, and has its trace. */
function isConfirmed({ session }: Progress, failure: DiagnosedFailure): boolean {
  if (!failure.isTraced && failure.failure.scope === 'test') return false;
  return session.observations.countRedRuns(failure) > Math.max(1, session.settings.verify.confirm);
}

/**
 * Combines the two runs of a failure. The confirming run has the trace and determines the diagnosis, unless only the first run could be classified.
 * If the errors differ, the evidence contains both.
 */
function combineRuns(before: DiagnosedFailure, again: DiagnosedFailure | null): DiagnosedFailure {
  if (again === null) return before;
  const isSame = before.signature === again.signature;
  const decides = again.diagnosis.category !== 'unknown' || before.diagnosis.category === 'unknown';
  const [decided, other] = decides ? [again, before] : [before, again];
  const { rerunIds } = before;
  if (isSame) return { ...decided, rerunIds };
  const otherRun = { run: decides ? 'first' : 'confirming', errors: other.evidence.errors } as const;
  return { ...decided, rerunIds, evidence: { ...decided.evidence, otherRun } };
}

/** Gives a failure that did not run again the diagnosis of the failure that represents it. */
function copyDiagnosis(failure: DiagnosedFailure, lead: DiagnosedFailure): DiagnosedFailure {
  const test = lead.failure.scope === 'test' ? lead.failure.test.titlePath.join(' › ') : 'the suite';
  const missing = `what only a trace shows, because another test that failed the same way ran again instead: ${test}`;
  const { diagnosis, n: like } = lead;
  return {
    ...failure,
    diagnosis,
    like,
    evidence: { ...failure.evidence, missing: [...failure.evidence.missing, missing] },
  };
}
