import { findMinimalSet } from '../../minimal-set.js';
import { formatTitles } from '../../model/failure.js';
import { type Count, isSurelyHigher, judgeCount, computeLowestRate } from '../../model/failure-rate.js';
import type { Flake } from '../../model/flake.js';
import { createConcurrentCondition, formatTestNames, listTrials, timeZoneTrials } from './conditions.js';
import { addRound, runRounds, type RunHistory, type Suspect } from './run-history.js';
import {
  type Condition,
  countRedRuns,
  type FlakeSearch,
  proveRedMoreOften,
  isSearchOver,
  createTrialKey,
  MIN_RATE,
  type RepeatedTest,
  measureTrial,
  MAX_REPEATS,
  createTrial,
  noRuns,
  aloneTrial,
  addCounts,
  runUnderCondition,
  type FlakeTrial,
  extendTrial,
} from './trials.js';

export interface FoundFlake {
  readonly flake: Flake;
  readonly target: RepeatedTest;
  /** The condition that triggers it; null if no experiment made it red again. */
  readonly condition: Condition | null;
}

/** How many runs each condition gets. The few runs of the first pass find a condition that is always red at little cost. */
const RUNS_PER_CONDITION = [4, MAX_REPEATS];

/** The maximum number of tests in one trial, including repetitions. A trial runs its condition at least twice. */
const MAX_TESTS_PER_TRIAL = 200;

/** Finds the flaky tests of a suite, with the condition and the rate of each flake (FL-1, FL-2). Reports each flake immediately. */
export async function findFlakes(
  search: FlakeSearch,
  report: (result: FoundFlake) => Promise<void>,
): Promise<readonly FoundFlake[]> {
  const { first, suspected, isNamed } = search;
  const history: RunHistory = {
    counts: new Map(),
    reds: new Map(),
    workers: 1,
    isWholeSuite: !isNamed && first.tests.length > 0,
  };
  addRound(history, first.tests);
  if (!isNamed && suspected.size === 0) await runRounds(search, history);
  const selected = new Set(first.tests.map(({ test }) => createTrialKey(test)));
  const isSuspect = ({ key }: RepeatedTest) =>
    suspected.size > 0 ? suspected.has(key) : isNamed || (history.counts.get(key)?.red ?? 0) > 0;
  const tests = search.allTests.filter(({ key }) => selected.has(key) || suspected.has(key));
  const suspects = tests.filter(isSuspect);
  const flakes: FoundFlake[] = [];
  const addFlake = async (result: FoundFlake | null) => {
    if (!result) return;
    flakes.push(result);
    await report(result);
  };
  for (const [at, target] of suspects.entries()) {
    const now = search.now();
    // Shares the remaining time equally among the remaining tests.
    const until = now + (search.until - now) / (suspects.length - at);
    await addFlake(await explainRedTest({ ...search, until }, { target, history }));
  }
  // A test that is red only in another time zone has been green so far.
  const green = suspected.size > 0 ? [] : tests.filter((test) => !isSuspect(test));
  for (const trial of timeZoneTrials) {
    if (green.length === 0 || isSearchOver(search)) break;
    const { env = {} } = trial.condition;
    const ids = green.flatMap(({ ids: [id = []] }) => id);
    const run = await search.run({ ids, args: [], env, trace: false });
    for (const target of green) {
      const count = countRedRuns(run.tests, target.key);
      if (count.red === 0 || flakes.some((flake) => flake.target === target)) continue;
      const experiment = { aloneResult: createTrial(aloneTrial), trial: { ...trial, count } };
      await addFlake(await confirmCondition(search, { target, history }, experiment));
    }
  }
  return flakes;
}

/** Finds the condition that turns a test red, by experiments (FL-2). Returns null if it was never red, or is always red. */
async function explainRedTest(search: FlakeSearch, suspect: Suspect): Promise<FoundFlake | null> {
  const { target, history } = suspect;
  const name = formatTitles(target.test.titlePath);
  const aloneResult = createTrial(aloneTrial);
  const getSuiteCount = () => history.counts.get(target.key) ?? noRuns;
  await measureTrial(search, target, aloneResult, { most: 10 });
  if (search.signal.aborted) return null;
  const { red, runs } = aloneResult.count;
  if (red > 0 && red < runs) return describeRandomFlake(search, target, aloneResult);
  if (red > 0) {
    if (getSuiteCount().red < getSuiteCount().runs) return explainTestRedAlone(search, suspect, aloneResult);
    search.warn(`${name} is red in all of ${runs + getSuiteCount().runs} runs: broken, not flaky`);
    return null;
  }
  if (!history.isWholeSuite) {
    await runRounds(search, history);
    history.isWholeSuite = true;
  }
  const trials = listTrials(search, suspect);
  for (const maxRuns of RUNS_PER_CONDITION)
    for (const trial of trials) {
      const maxRepeats = Math.max(2, Math.floor(MAX_TESTS_PER_TRIAL / (trial.condition.others.length + 1)));
      await extendTrial(search, target, trial, Math.min(maxRuns, maxRepeats));
      if (trial.count.red === 0) continue;
      const flake = await confirmCondition(search, suspect, { aloneResult, trial, trials });
      if (flake) return flake;
    }
  if (search.signal.aborted) return null;
  if (getSuiteCount().red > 0) {
    const note = isSearchOver(search) ? '; the search for its condition ran out of time (flaky.time)' : '';
    const describe = () => `in the whole suite${note}`;
    return {
      ...createFoundFlake(target, { ...aloneTrial, describe, count: getSuiteCount() }, aloneResult.count),
      condition: null,
    };
  }
  // A test that the user named runs until a relevant failure rate is ruled out.
  await measureTrial(search, target, aloneResult);
  if (aloneResult.count.red > 0) return describeRandomFlake(search, target, aloneResult);
  const all = addCounts(aloneResult.count, getSuiteCount());
  const hasEnoughRuns = judgeCount(all, { look: 1, expected: MIN_RATE }) === 'green';
  search.warn(
    `${name} was green in all of ${all.runs} runs${hasEnoughRuns ? '' : ', too few to prove that it is not flaky'}`,
  );
  return null;
}

async function describeRandomFlake(
  search: FlakeSearch,
  target: RepeatedTest,
  aloneResult: FlakeTrial,
): Promise<FoundFlake> {
  await measureTrial(search, target, aloneResult);
  return createFoundFlake(target, aloneResult, aloneResult.count);
}

interface Experiment {
  readonly aloneResult: FlakeTrial;
  readonly trial: FlakeTrial;
  readonly trials?: readonly FlakeTrial[];
}

/** Confirms that a condition turns a test red, and reduces it to its necessary tests. Returns null if the condition is not the reason. */
async function confirmCondition(
  search: FlakeSearch,
  suspect: Suspect,
  { aloneResult, trial, trials = [] }: Experiment,
): Promise<FoundFlake | null> {
  const { target } = suspect;
  if (!(await proveRedMoreOften(search, target, [trial, aloneResult])))
    return aloneResult.count.red > 0 ? describeRandomFlake(search, target, aloneResult) : null;
  const load = trials.find(({ kind }) => kind === 'load');
  if (
    trial.kind === 'data' &&
    load &&
    !(await proveRedMoreOften(search, target, [trial, load])) &&
    load.count.red > 0
  )
    return confirmCondition(search, suspect, { aloneResult, trial: load });
  const { others, workers } = trial.condition;
  const isSet = trial.kind === 'order' || trial.kind === 'data';
  const set = isSet ? await findSmallestSet(search, suspect, { trial, wanted: 'red' }) : others;
  if (!set) return null;
  const condition =
    trial.kind === 'data' ? createConcurrentCondition(set, workers) : { ...trial.condition, others: set };
  const smallest = set.length === others.length ? trial : createTrial({ ...trial, condition });
  await measureTrial(search, target, smallest);
  // The red runs of the chosen condition may be chance.
  if (smallest.count.red > 0)
    await measureTrial(search, target, aloneResult, { expected: computeLowestRate(smallest.count) });
  const isShown = isSurelyHigher(trial.count, aloneResult.count) && isSearchOver(search);
  if (isSurelyHigher(smallest.count, aloneResult.count) || (isShown && smallest.count.red > 0))
    return createFoundFlake(target, smallest, aloneResult.count);
  if (aloneResult.count.red > 0) return describeRandomFlake(search, target, aloneResult);
  // Time was too short to show that a smaller condition suffices.
  return isShown ? createFoundFlake(target, trial, aloneResult.count) : null;
}

/** Explains a test that is red alone and green in the suite: it needs some of the tests before it. */
async function explainTestRedAlone(
  search: FlakeSearch,
  suspect: Suspect,
  aloneResult: FlakeTrial,
): Promise<FoundFlake> {
  const orders = listTrials(search, suspect).filter(({ kind }) => kind === 'order');
  for (const trial of orders) {
    const needed = await findSmallestSet(search, suspect, { trial, wanted: 'green' });
    if (!needed) continue;
    const describe = () => `without ${formatTestNames(needed)} before it`;
    return createFoundFlake(
      suspect.target,
      { ...aloneResult, kind: 'order', describe },
      aloneResult.count,
      needed,
    );
  }
  return createFoundFlake(suspect.target, { ...aloneResult, kind: 'order' }, aloneResult.count);
}

/** Counts the green runs that rule out this failure rate with 99 percent confidence. */
function countRunsToRuleOut(rate: number): number {
  return Math.min(MAX_REPEATS, Math.max(2, Math.ceil(Math.log(0.01) / Math.log1p(-Math.min(rate, 0.99)))));
}

/** Finds the tests that a condition needs to turn a test red (or green). Returns null if the condition no longer has that effect. */
async function findSmallestSet(
  search: FlakeSearch,
  { target }: Suspect,
  { trial, wanted }: { readonly trial: FlakeTrial; readonly wanted: 'red' | 'green' },
): Promise<readonly RepeatedTest[] | null> {
  const { others, workers } = trial.condition;
  let times = wanted === 'green' ? 2 : countRunsToRuleOut(computeLowestRate(trial.count));
  const getOutcome = async (some: readonly RepeatedTest[]) => {
    if (isSearchOver(search)) return null;
    if (some.length === others.length && trial.count.red > 0) return 'green';
    const inOrder = search.allTests.filter((test) => some.includes(test));
    const condition =
      trial.kind === 'data' ? createConcurrentCondition(inOrder, workers) : { others: inOrder, workers };
    const count = countRedRuns(
      (await runUnderCondition(search.run, condition, { target, times })).tests,
      target.key,
    );
    if (count.runs === 0) return 'unresolved';
    const isWanted = wanted === 'red' ? count.red > 0 : count.red < count.runs;
    // A higher failure rate needs fewer runs.
    if (isWanted && wanted === 'red') times = Math.min(times, countRunsToRuleOut(computeLowestRate(count)));
    return isWanted ? 'green' : 'red';
  };
  // Starts with the nearest tests, because a test that leaves data behind usually ran shortly before.
  const minimal = await findMinimalSet(others.toReversed(), { test: getOutcome, distance: () => 0 });
  return minimal && others.filter((test) => minimal.set.includes(test));
}

function createFoundFlake(
  target: RepeatedTest,
  { kind, condition, describe, count }: FlakeTrial,
  aloneCount: Count,
  others = kind === 'load' ? [] : condition.others,
): FoundFlake {
  const flake: Flake = {
    test: target.test,
    kind,
    red: count,
    alone: aloneCount,
    others: others.map(({ test }) => test),
    condition: describe(others),
    difference: [],
  };
  return { flake, target, condition };
}
