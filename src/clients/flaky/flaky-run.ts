import { type Count, countNeededGreenRuns } from '../../model/failure-rate.js';
import { formatTitles } from '../../model/failure.js';
import { type Flake, explainTooRare } from '../../model/flake.js';
import type { Cause, DiagnosedFailure } from '../../model/cause.js';
import { findFlakes, type FoundFlake } from './find-flakes.js';
import { describeDifference, type TracedRun, readTracedRun } from './trace-difference.js';
import {
  aloneCondition,
  type Condition,
  countRedRuns,
  createTrialKey,
  type RepeatedTest,
  listRepeatedTests,
  MAX_REPEATS,
  noRuns,
  addCounts,
  type RunByIds,
  runUnderCondition,
} from './trials.js';
import type { SuitePurpose } from '../../event.js';
import { listSuite } from '../../playwright/run-suite.js';
import { isNarrowed, toPlaywrightArgs } from '../../playwright/selection.js';
import type { SuiteRun } from '../../playwright/suite-run.js';
import { healGivenCauses } from '../../heal/heal-rounds.js';
import { observeRun } from '../../heal/observations.js';
import type { OpenRun } from '../../command/open-run.js';
import { type HealResult, createProgress, type Progress } from '../../heal/progress.js';
import type { RerunRequest, Session } from '../../heal/session.js';

/** A flake with a known condition. */
type ReproducibleFlake = FoundFlake & { readonly condition: Condition };

/** A flake to heal, with one of its failures. */
interface HealableFlake extends ReproducibleFlake {
  readonly failure: DiagnosedFailure;
}

/**
 * Measures, explains and heals flaky tests (FL-1 to FL-4): the suspects of the preceding run, by id, or else all selected tests. Tests that stay flaky
 * do not fail the run.
 */
export async function runFlaky(
  opened: OpenRun,
  session: Session,
  { first, suspected = [] }: { readonly first: SuiteRun; readonly suspected?: readonly string[] },
): Promise<HealResult> {
  const { request, settings, bus } = opened;
  const noResult: HealResult = { suiteRed: first.suiteFailure !== null, paused: false };
  const [broken] = first.suiteFailure?.errors ?? [];
  if (broken && first.tests.length === 0) {
    const [reason] = broken.message.split('\n');
    const message = `Nothing was measured, because the suite itself failed: ${reason}. \`self-heal run\` diagnoses and heals that.`;
    bus.emit({ type: 'run.warning', message });
  }
  if (first.tests.length + suspected.length === 0 || session.signal.aborted) return noResult;
  const { cwd, env, filters, options, passThrough } = request;
  const { byId, rerun } = toPlaywrightArgs({ ...options, filters, passThrough });
  const listTests = (args: readonly string[]) => listSuite({ playwright: opened.playwright, cwd, env, args });
  const allTests = listRepeatedTests(await listTests([...byId, `--repeat-each=${MAX_REPEATS}`]));
  const isNamed = suspected.length === 0 && (filters.length > 0 || options.grep !== undefined);
  // Skips the setup projects, which Playwright adds to a selection.
  const selected =
    suspected.length === 0 && isNarrowed({ ...options, filters, passThrough })
      ? new Set((await listTests([...rerun, '--no-deps'])).tests.map(({ test }) => createTrialKey(test)))
      : null;
  const run = createRunByIds(session);
  const flakes: HealableFlake[] = [];
  const search = {
    allTests,
    first: { ...first, tests: first.tests.filter(({ test }) => selected?.has(createTrialKey(test)) ?? true) },
    isNamed,
    suspected: new Set(allTests.filter(({ test }) => suspected.includes(test.id)).map(({ key }) => key)),
    run,
    maxRuns: settings.flaky.runs,
    until: session.clock.now() + settings.flaky.timeMs,
    now: () => session.clock.now(),
    signal: session.signal,
    warn: (message: string) => bus.emit({ type: 'run.warning', message }),
  };
  await findFlakes(search, async (result) => {
    const { target, condition } = result;
    const canTrace = condition !== null && !session.signal.aborted;
    const { flake, failure } = canTrace
      ? await recordTraces(session, run, { ...result, condition })
      : { flake: result.flake, failure: null };
    bus.emit({ type: 'flake.found', flake });
    const { test, kind, red } = flake;
    bus.emit({ type: 'tests.decided', ids: [test.id], verdict: 'flaky' });
    const counts = { kind, red: red.red, green: red.runs - red.red };
    await session.store.recordFlake({ testId: test.id, name: formatTitles(test.titlePath), ...counts });
    if (condition && failure) flakes.push({ flake, target, condition, failure });
    const message = `${formatTitles(test.titlePath)}: no experiment turned it red again, so no fix could be proven`;
    if (!condition) bus.emit({ type: 'run.warning', message });
  });
  const mayHeal = !options.dryRun && !session.signal.aborted;
  return { ...noResult, paused: mayHeal && (await healFlakes(session, first, flakes)) };
}

function createRunByIds(session: Session): RunByIds {
  return ({ ids, ...how }) => session.suite.rerun({ ids, purpose: 'flaky', causeId: null, how });
}

/** The maximum number of traced runs until one is red. */
const MAX_TRACED_RUNS = 3;

/** Records traces of a red and a green run of a flake: the red one is the evidence, and both show the difference. */
async function recordTraces(
  session: Session,
  run: RunByIds,
  { flake, target, condition }: ReproducibleFlake,
): Promise<{ readonly flake: Flake; readonly failure: DiagnosedFailure | null }> {
  const times = Math.min(MAX_REPEATS, countNeededGreenRuns(flake.red));
  let failure: DiagnosedFailure | null = null;
  let [red, green]: [TracedRun | null, TracedRun | null] = [null, null];
  const readTrace = (file: string | undefined) =>
    file === undefined ? null : readTracedRun(file, session.redactor).catch(() => null);
  for (let n = 0; n < MAX_TRACED_RUNS && !(failure && green) && !session.signal.aborted; n += 1) {
    // A test that is always red under its condition is green alone.
    const needsGreenRun = failure !== null;
    const suiteRun = await runUnderCondition(run, needsGreenRun ? aloneCondition : condition, {
      target,
      times,
      trace: true,
    });
    const targetIds = new Set(
      suiteRun.tests.flatMap(({ test }) => (createTrialKey(test) === target.key ? test.id : [])),
    );
    green ??= await readTrace([...(suiteRun.traces ?? [])].find(([id]) => targetIds.has(id))?.[1]);
    const [failed] = suiteRun.failures.filter(({ test }) => targetIds.has(test.id));
    if (failure || !failed) continue;
    red = await readTrace(failed.attachments.find(({ name }) => name === 'trace')?.path);
    const asFirst = { ...failed, test: target.test };
    const redOnly = { ...suiteRun, suiteFailure: null, failures: [asFirst] };
    const [diagnosed] = await session.diagnostics.diagnose(redOnly);
    if (!diagnosed) continue;
    failure = reclassifyAsFlake(diagnosed, target);
    session.observations.add(
      observeRun(
        { run: { ...redOnly, tests: [createTestResult(target, 'unexpected')] }, failures: [failure] },
        [],
      ),
    );
  }
  const difference = red && green ? describeDifference(red, green, session.cwd) : [];
  return { flake: session.redactor.deep({ ...flake, difference }), failure };
}

/** Classifies a failure as a flake, regardless of its error; a code change can heal it. */
function reclassifyAsFlake(failure: DiagnosedFailure, target: RepeatedTest): DiagnosedFailure {
  const diagnosis = {
    ...failure.diagnosis,
    category: 'flaky',
    alternatives: [],
    retry: 'code_error',
  } as const;
  return { ...failure, diagnosis, rerunIds: target.ids[0] ?? [] };
}

function createTestResult({ test }: RepeatedTest, outcome: 'expected' | 'unexpected' | 'not-run') {
  return { test, outcome, retries: 0, durationMs: 0 };
}

/** Heals flakes, each as one cause, and proves the fixes under the triggering conditions (FL-3, FL-4). Returns true if too many questions are open. */
async function healFlakes(
  session: Session,
  first: SuiteRun,
  candidates: readonly HealableFlake[],
): Promise<boolean> {
  const { bus, settings } = session;
  const explainRarity = (candidate: HealableFlake) => explainTooRare(candidate.flake, settings.flaky.runs);
  for (const candidate of candidates) {
    const why = explainRarity(candidate);
    if (why !== null)
      bus.emit({ type: 'run.warning', message: `${formatTitles(candidate.flake.test.titlePath)}: ${why}` });
  }
  const flakes = candidates.filter((candidate) => explainRarity(candidate) === null);
  if (flakes.length === 0) return false;
  const progress = createProgress(createConditionedSession(session, flakes), first);
  const causes = flakes.map(({ flake, failure }, index): Cause => ({
    id: `c${bus.getRun().causes.length + index + 1}`,
    lead: failure,
    members: [failure],
    parent: null,
    environment: null,
    flake,
  }));
  const { paused } = await healGivenCauses(progress, causes, first);
  emitStillFlaky(progress, flakes);
  return paused;
}

/** Reports tests as flaky again if their flakes were not healed. */
function emitStillFlaky({ session }: Progress, flakes: readonly HealableFlake[]): void {
  const { tests } = session.bus.getRun();
  const wasNotHealed = ({ flake }: HealableFlake) =>
    /^(?:failed|rejected)$/.test(tests.get(flake.test.id)?.verdict ?? '');
  const stillFlaky = flakes.filter(wasNotHealed);
  const ids = stillFlaky.map(({ flake }) => flake.test.id);
  if (ids.length > 0) session.bus.emit({ type: 'tests.decided', ids, verdict: 'flaky' });
}

/** The purposes of runs that judge a fix. */
const fixPurposes: ReadonlySet<SuitePurpose> = new Set(['retest', 'proof', 'shared-fix']);

/** Creates a session that re-runs a flaky test as often as a proof needs, under the triggering condition. The re-run is red if one of these runs is. */
function createConditionedSession(session: Session, flakes: readonly HealableFlake[]): Session {
  const { verify } = session.settings;
  const run = createRunByIds(session);
  const rerun = async (request: RerunRequest): Promise<SuiteRun> => {
    const ids = new Set(request.ids);
    const requested = flakes.filter(({ target }) => target.ids[0]?.some((id) => ids.has(id)));
    if (!fixPurposes.has(request.purpose) || requested.length === 0) return session.suite.rerun(request);
    const flakyIds = new Set(requested.flatMap(({ target }) => target.ids[0] ?? []));
    const others = [...ids].filter((id) => !flakyIds.has(id));
    const runs = others.length > 0 ? [await session.suite.rerun({ ...request, ids: others })] : [];
    for (const candidate of requested) runs.push(await runRepeatedly(session, run, candidate));
    const [newest] = runs.toReversed();
    if (!newest) return session.suite.rerun(request);
    return {
      ...newest,
      tests: runs.flatMap(({ tests }) => tests),
      failures: runs.flatMap(({ failures }) => failures),
      suiteFailure: runs.find(({ suiteFailure }) => suiteFailure)?.suiteFailure ?? null,
      traces: new Map(runs.flatMap(({ traces }) => [...(traces ?? [])])),
      tracing: 'on',
    };
  };
  // The re-run of a fix is already its proof. The fix is reverted once, to see the test red again.
  const flaky = { ...verify, repeat: 1, flips: Math.min(1, verify.flips), confirm: 0 };
  return {
    ...session,
    settings: { ...session.settings, verify: flaky },
    suite: { ...session.suite, rerun },
  };
}

/** Runs a flaky test until it was red once or green often enough, and returns the result as one run. */
async function runRepeatedly(
  session: Session,
  run: RunByIds,
  { target, condition, flake }: HealableFlake,
): Promise<SuiteRun> {
  const needed = countNeededGreenRuns(flake.red);
  let count: Count = noRuns;
  for (;;) {
    const times = Math.min(MAX_REPEATS, needed - count.runs);
    const suiteRun = await runUnderCondition(run, condition, { target, times, trace: true });
    const targetTests = suiteRun.tests.filter(({ test }) => createTrialKey(test) === target.key);
    const now = countRedRuns(suiteRun.tests, target.key);
    count = addCounts(count, now);
    const isDone = count.red > 0 || count.runs >= needed || now.runs === 0 || session.signal.aborted;
    if (!isDone) continue;
    const outcome = count.red > 0 ? 'unexpected' : count.runs >= needed ? 'expected' : 'not-run';
    if (outcome === 'expected') session.bus.emit({ type: 'flake.passed', test: target.test, green: count });
    const red = suiteRun.failures.find(({ test }) => createTrialKey(test) === target.key);
    const trace = targetTests.flatMap(({ test }) => suiteRun.traces?.get(test.id) ?? [])[0];
    return {
      ...suiteRun,
      tests: targetTests.length > 0 ? [createTestResult(target, outcome)] : [],
      failures: red && count.red > 0 ? [{ ...red, test: target.test }] : [],
      rerunIds: { [target.test.id]: target.ids[0] ?? [target.test.id] },
      traces: new Map(trace === undefined ? [] : [[target.test.id, trace]]),
    };
  }
}
