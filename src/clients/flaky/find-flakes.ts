import { minimalSet } from '../../minimal-set.js';
import { formatTitles } from '../../model/failure.js';
import { type Count, isSurelyHigher, judgeCount, computeLowestRate } from '../../model/failure-rate.js';
import type { Flake } from '../../model/flake.js';
import { concurrently, testNames, trialsFor, zones } from './conditions.js';
import { addRound, rounds, type RunHistory, type Suspect } from './run-history.js';
import {
  type Condition,
  countIn,
  type FlakeSearch,
  isMoreRed,
  isOver,
  trialKeyOf,
  LEAST_RATE,
  type RepeatedTest,
  measure,
  MOST_REPEATS,
  newTrial,
  none,
  own,
  plus,
  runUnder,
  type FlakeTrial,
  tryOn,
} from './trials.js';

/** A flake with the condition that makes it red. */
export interface FoundFlake {
  readonly flake: Flake;
  readonly target: RepeatedTest;
  /** Null if no experiment made it red again. */
  readonly under: Condition | null;
}

/** How often each condition is tried. A few runs of each condition come first: they find what is always red at little cost. */
const EFFORTS = [4, MOST_REPEATS];

/** How many tests one trial runs at most, with repetitions. A trial runs its condition at least twice. */
const MOST_IN_TRIAL = 200;

/** Finds the flaky tests of a suite, what makes each of them red, and how often (FL-1, FL-2). Reports each flake as soon as it is found. */
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
  if (!isNamed && suspected.size === 0) await rounds(search, history);
  const selected = new Set(first.tests.map(({ test }) => trialKeyOf(test)));
  const isSuspect = ({ key }: RepeatedTest) =>
    suspected.size > 0 ? suspected.has(key) : isNamed || (history.counts.get(key)?.red ?? 0) > 0;
  const tests = search.listed.filter(({ key }) => selected.has(key) || suspected.has(key));
  const suspects = tests.filter(isSuspect);
  const flakes: FoundFlake[] = [];
  const take = async (result: FoundFlake | null) => {
    if (!result) return;
    flakes.push(result);
    await report(result);
  };
  for (const [at, target] of suspects.entries()) {
    const now = search.now();
    // The time that one test does not use is left to the others.
    const until = now + (search.until - now) / (suspects.length - at);
    await take(await explain({ ...search, until }, { target, history }));
  }
  // A test that is red only in another time zone was green in all of these runs.
  const green = suspected.size > 0 ? [] : tests.filter((test) => !isSuspect(test));
  for (const trial of zones) {
    if (green.length === 0 || isOver(search)) break;
    const { env = {} } = trial.under;
    const ids = green.flatMap(({ ids: [id = []] }) => id);
    const run = await search.run({ ids, args: [], env, trace: false });
    for (const target of green) {
      const count = countIn(run.tests, target.key);
      if (count.red === 0 || flakes.some((flake) => flake.target === target)) continue;
      await take(
        await confirm(search, { target, history }, { own: newTrial(own), trial: { ...trial, count } }),
      );
    }
  }
  return flakes;
}

/** Finds out by experiment what makes a test red (FL-2). Returns null if it was never red, or always is. */
async function explain(search: FlakeSearch, suspect: Suspect): Promise<FoundFlake | null> {
  const { target, history } = suspect;
  const named = formatTitles(target.test.titlePath);
  const byItself = newTrial(own);
  const inSuite = () => history.counts.get(target.key) ?? none;
  await measure(search, target, byItself, { most: 10 });
  if (search.signal.aborted) return null;
  const { red, runs } = byItself.count;
  if (red > 0 && red < runs) return random(search, target, byItself);
  if (red > 0) {
    if (inSuite().red < inSuite().runs) return neededTests(search, suspect, byItself);
    search.say(`${named} is red in all of ${runs + inSuite().runs} runs: broken, not flaky`);
    return null;
  }
  if (!history.isWhole) {
    await rounds(search, history);
    history.isWhole = true;
  }
  const trials = trialsFor(search, suspect);
  for (const effort of EFFORTS)
    for (const trial of trials) {
      const most = Math.max(2, Math.floor(MOST_IN_TRIAL / (trial.under.others.length + 1)));
      await tryOn(search, target, trial, Math.min(effort, most));
      if (trial.count.red === 0) continue;
      const flake = await confirm(search, suspect, { own: byItself, trial, trials });
      if (flake) return flake;
    }
  if (search.signal.aborted) return null;
  if (inSuite().red > 0) {
    const ended = isOver(search) ? '; flaky.time ended the search for what makes it red' : '';
    const words = () => `in the whole suite${ended}`;
    return { ...foundFlake(target, { ...own, words, count: inSuite() }, byItself.count), under: null };
  }
  // Tests that were named run until a relevant failure rate is ruled out.
  await measure(search, target, byItself);
  if (byItself.count.red > 0) return random(search, target, byItself);
  const all = plus(byItself.count, inSuite());
  const isEnough = judgeCount(all, { look: 1, expected: LEAST_RATE }) === 'green';
  search.say(
    `${named} was green in all of ${all.runs} runs${isEnough ? '' : ', fewer than would say enough'}`,
  );
  return null;
}

async function random(search: FlakeSearch, target: RepeatedTest, byItself: FlakeTrial): Promise<FoundFlake> {
  await measure(search, target, byItself);
  return foundFlake(target, byItself, byItself.count);
}

interface Experiment {
  readonly own: FlakeTrial;
  readonly trial: FlakeTrial;
  readonly trials?: readonly FlakeTrial[];
}

/** Shows that a condition makes a test red, and reduces it to what does. Returns null if the condition is not the reason. */
async function confirm(
  search: FlakeSearch,
  suspect: Suspect,
  { own: byItself, trial, trials = [] }: Experiment,
): Promise<FoundFlake | null> {
  const { target } = suspect;
  if (!(await isMoreRed(search, target, [trial, byItself])))
    return byItself.count.red > 0 ? random(search, target, byItself) : null;
  const load = trials.find(({ kind }) => kind === 'load');
  if (
    trial.kind === 'data' &&
    load &&
    !(await isMoreRed(search, target, [trial, load])) &&
    load.count.red > 0
  )
    return confirm(search, suspect, { own: byItself, trial: load });
  const { others, workers } = trial.under;
  const isSet = trial.kind === 'order' || trial.kind === 'data';
  const set = isSet ? await smallestSet(search, suspect, { trial, wanted: 'red' }) : others;
  if (!set) return null;
  const under = trial.kind === 'data' ? concurrently(set, workers) : { ...trial.under, others: set };
  const least = set.length === others.length ? trial : newTrial({ ...trial, under });
  await measure(search, target, least);
  // A condition that was chosen for its many red runs may owe them to chance.
  if (least.count.red > 0)
    await measure(search, target, byItself, { expected: computeLowestRate(least.count) });
  const isShown = isSurelyHigher(trial.count, byItself.count) && isOver(search);
  if (isSurelyHigher(least.count, byItself.count) || (isShown && least.count.red > 0))
    return foundFlake(target, least, byItself.count);
  if (byItself.count.red > 0) return random(search, target, byItself);
  // There was no time to show that a smaller condition is enough.
  return isShown ? foundFlake(target, trial, byItself.count) : null;
}

/** Explains a test that is red by itself and green in the suite: it needs some of the tests before it. */
async function neededTests(search: FlakeSearch, suspect: Suspect, byItself: FlakeTrial): Promise<FoundFlake> {
  const orders = trialsFor(search, suspect).filter(({ kind }) => kind === 'order');
  for (const trial of orders) {
    const needed = await smallestSet(search, suspect, { trial, wanted: 'green' });
    if (!needed) continue;
    const words = () => `without ${testNames(needed)} before it`;
    return foundFlake(suspect.target, { ...byItself, kind: 'order', words }, byItself.count, needed);
  }
  return foundFlake(suspect.target, { ...byItself, kind: 'order' }, byItself.count);
}

/** Returns how many green runs rule out this failure rate with 99 percent confidence. */
function enough(rate: number): number {
  return Math.min(MOST_REPEATS, Math.max(2, Math.ceil(Math.log(0.01) / Math.log1p(-Math.min(rate, 0.99)))));
}

/** Removes the tests that a condition does not need to make a test red (or green). Returns null if the condition no longer does. */
async function smallestSet(
  search: FlakeSearch,
  { target }: Suspect,
  { trial, wanted }: { readonly trial: FlakeTrial; readonly wanted: 'red' | 'green' },
): Promise<readonly RepeatedTest[] | null> {
  const { others, workers } = trial.under;
  let times = wanted === 'green' ? 2 : enough(computeLowestRate(trial.count));
  const outcomeOf = async (some: readonly RepeatedTest[]) => {
    if (isOver(search)) return null;
    if (some.length === others.length && trial.count.red > 0) return 'green';
    const inOrder = search.listed.filter((test) => some.includes(test));
    const under = trial.kind === 'data' ? concurrently(inOrder, workers) : { others: inOrder, workers };
    const count = countIn((await runUnder(search.run, under, { target, times })).tests, target.key);
    if (count.runs === 0) return 'unresolved';
    const isWanted = wanted === 'red' ? count.red > 0 : count.red < count.runs;
    // A test that is red often needs fewer runs.
    if (isWanted && wanted === 'red') times = Math.min(times, enough(computeLowestRate(count)));
    return isWanted ? 'green' : 'red';
  };
  // The nearest come first: a test that leaves something behind mostly ran shortly before.
  const minimal = await minimalSet(others.toReversed(), { test: outcomeOf, apart: () => 0 });
  return minimal && others.filter((test) => minimal.set.includes(test));
}

function foundFlake(
  target: RepeatedTest,
  { kind, under, words, count }: FlakeTrial,
  aloneCount: Count,
  others = kind === 'load' ? [] : under.others,
): FoundFlake {
  const flake: Flake = {
    test: target.test,
    kind,
    red: count,
    alone: aloneCount,
    others: others.map(({ test }) => test),
    condition: words(others),
    difference: [],
  };
  return { flake, target, under };
}
