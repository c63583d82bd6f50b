import { findMinimalSet } from '../../minimal-set.js';
import { formatTitles } from '../../model/failure.js';
import { type Count, isSurelyHigher, judgeCount, computeLowestRate } from '../../model/failure-rate.js';
import type { Flake } from '../../model/flake.js';
import { createConcurrentCondition, formatTestNames, listTrials, zones } from './conditions.js';
import { addRound, runRounds, type RunHistory, type Suspect } from './run-history.js';
import {
  type Condition,
  countRed,
  type FlakeSearch,
  isMoreRed,
  isOver,
  createTrialKey,
  MIN_RATE,
  type RepeatedTest,
  measure,
  MAX_REPEATS,
  createTrial,
  none,
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
  readonly under: Condition | null;
}

/** How many runs each condition gets: first a few, which find a condition that is always red at little cost. */
const EFFORTS = [4, MAX_REPEATS];

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
    isWhole: !isNamed && first.tests.length > 0,
  };
  addRound(history, first.tests);
  if (!isNamed && suspected.size === 0) await runRounds(search, history);
  const selected = new Set(first.tests.map(({ test }) => createTrialKey(test)));
  const isSuspect = ({ key }: RepeatedTest) =>
    suspected.size > 0 ? suspected.has(key) : isNamed || (history.counts.get(key)?.red ?? 0) > 0;
  const tests = search.listed.filter(({ key }) => selected.has(key) || suspected.has(key));
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
  for (const trial of zones) {
    if (green.length === 0 || isOver(search)) break;
    const { env = {} } = trial.under;
    const ids = green.flatMap(({ ids: [id = []] }) => id);
    const run = await search.run({ ids, args: [], env, trace: false });
    for (const target of green) {
      const count = countRed(run.tests, target.key);
      if (count.red === 0 || flakes.some((flake) => flake.target === target)) continue;
      const experiment = { byItself: createTrial(aloneTrial), trial: { ...trial, count } };
      await addFlake(await confirmCondition(search, { target, history }, experiment));
    }
  }
  return flakes;
}

/** Finds the condition that turns a test red, by experiments (FL-2). Returns null if it was never red, or is always red. */
async function explainRedTest(search: FlakeSearch, suspect: Suspect): Promise<FoundFlake | null> {
  const { target, history } = suspect;
  const name = formatTitles(target.test.titlePath);
  const byItself = createTrial(aloneTrial);
  const inSuite = () => history.counts.get(target.key) ?? none;
  await measure(search, target, byItself, { most: 10 });
  if (search.signal.aborted) return null;
  const { red, runs } = byItself.count;
  if (red > 0 && red < runs) return describeRandomFlake(search, target, byItself);
  if (red > 0) {
    if (inSuite().red < inSuite().runs) return findNeededTests(search, suspect, byItself);
    search.warn(`${name} is red in all of ${runs + inSuite().runs} runs: broken, not flaky`);
    return null;
  }
  if (!history.isWhole) {
    await runRounds(search, history);
    history.isWhole = true;
  }
  const trials = listTrials(search, suspect);
  for (const effort of EFFORTS)
    for (const trial of trials) {
      const most = Math.max(2, Math.floor(MAX_TESTS_PER_TRIAL / (trial.under.others.length + 1)));
      await extendTrial(search, target, trial, Math.min(effort, most));
      if (trial.count.red === 0) continue;
      const flake = await confirmCondition(search, suspect, { byItself, trial, trials });
      if (flake) return flake;
    }
  if (search.signal.aborted) return null;
  if (inSuite().red > 0) {
    const ended = isOver(search) ? '; the search for its condition ended at the limit flaky.time' : '';
    const describe = () => `in the whole suite${ended}`;
    return {
      ...createFoundFlake(target, { ...aloneTrial, describe, count: inSuite() }, byItself.count),
      under: null,
    };
  }
  // Tests named by the user run until a relevant failure rate is ruled out.
  await measure(search, target, byItself);
  if (byItself.count.red > 0) return describeRandomFlake(search, target, byItself);
  const all = addCounts(byItself.count, inSuite());
  const isEnough = judgeCount(all, { look: 1, expected: MIN_RATE }) === 'green';
  search.warn(
    `${name} was green in all of ${all.runs} runs${isEnough ? '' : ', too few to prove that it is not flaky'}`,
  );
  return null;
}

async function describeRandomFlake(
  search: FlakeSearch,
  target: RepeatedTest,
  byItself: FlakeTrial,
): Promise<FoundFlake> {
  await measure(search, target, byItself);
  return createFoundFlake(target, byItself, byItself.count);
}

interface Experiment {
  readonly byItself: FlakeTrial;
  readonly trial: FlakeTrial;
  readonly trials?: readonly FlakeTrial[];
}

/** Confirms that a condition turns a test red, and reduces it to its necessary tests. Returns null if the condition is not the reason. */
async function confirmCondition(
  search: FlakeSearch,
  suspect: Suspect,
  { byItself, trial, trials = [] }: Experiment,
): Promise<FoundFlake | null> {
  const { target } = suspect;
  if (!(await isMoreRed(search, target, [trial, byItself])))
    return byItself.count.red > 0 ? describeRandomFlake(search, target, byItself) : null;
  const load = trials.find(({ kind }) => kind === 'load');
  if (
    trial.kind === 'data' &&
    load &&
    !(await isMoreRed(search, target, [trial, load])) &&
    load.count.red > 0
  )
    return confirmCondition(search, suspect, { byItself, trial: load });
  const { others, workers } = trial.under;
  const isSet = trial.kind === 'order' || trial.kind === 'data';
  const set = isSet ? await findSmallestSet(search, suspect, { trial, wanted: 'red' }) : others;
  if (!set) return null;
  const under =
    trial.kind === 'data' ? createConcurrentCondition(set, workers) : { ...trial.under, others: set };
  const smallest = set.length === others.length ? trial : createTrial({ ...trial, under });
  await measure(search, target, smallest);
  // The red runs of the chosen condition may be chance.
  if (smallest.count.red > 0)
    await measure(search, target, byItself, { expected: computeLowestRate(smallest.count) });
  const isShown = isSurelyHigher(trial.count, byItself.count) && isOver(search);
  if (isSurelyHigher(smallest.count, byItself.count) || (isShown && smallest.count.red > 0))
    return createFoundFlake(target, smallest, byItself.count);
  if (byItself.count.red > 0) return describeRandomFlake(search, target, byItself);
  // Time was too short to show that a smaller condition suffices.
  return isShown ? createFoundFlake(target, trial, byItself.count) : null;
}

/** Explains a test that is red alone and green in the suite: it needs some of the tests before it. */
async function findNeededTests(
  search: FlakeSearch,
  suspect: Suspect,
  byItself: FlakeTrial,
): Promise<FoundFlake> {
  const orders = listTrials(search, suspect).filter(({ kind }) => kind === 'order');
  for (const trial of orders) {
    const needed = await findSmallestSet(search, suspect, { trial, wanted: 'green' });
    if (!needed) continue;
    const describe = () => `without ${formatTestNames(needed)} before it`;
    return createFoundFlake(suspect.target, { ...byItself, kind: 'order', describe }, byItself.count, needed);
  }
  return createFoundFlake(suspect.target, { ...byItself, kind: 'order' }, byItself.count);
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
  const { others, workers } = trial.under;
  let times = wanted === 'green' ? 2 : countRunsToRuleOut(computeLowestRate(trial.count));
  const getOutcome = async (some: readonly RepeatedTest[]) => {
    if (isOver(search)) return null;
    if (some.length === others.length && trial.count.red > 0) return 'green';
    const inOrder = search.listed.filter((test) => some.includes(test));
    const under =
      trial.kind === 'data' ? createConcurrentCondition(inOrder, workers) : { others: inOrder, workers };
    const count = countRed((await runUnderCondition(search.run, under, { target, times })).tests, target.key);
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
  { kind, under, describe, count }: FlakeTrial,
  aloneCount: Count,
  others = kind === 'load' ? [] : under.others,
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
  return { flake, target, under };
}
