import { minimalSet } from '../blame/minimal-set.js';
import { testName } from '../core/failure.js';
import { type Count, shownBy, surelyAtLeast } from '../core/failure-rate.js';
import type { Flake, FlakeKind } from '../core/flake.js';
import type { SuiteRun, TestResult } from '../playwright/suite-run.js';
import {
  alone,
  type Condition,
  countIn,
  keyOf,
  type ListedTest,
  MOST_REPEATS,
  none,
  plus,
  type RunByIds,
  runUnder,
} from './trials.js';

/** What a search for flakes needs from a run. */
export interface FlakeSearch {
  /** All tests of the suite, in the order in which they run, also those that were not asked for. */
  readonly listed: readonly ListedTest[];
  /** The first run, as the suite is configured. */
  readonly first: SuiteRun;
  /** Whether tests were named, so that each is looked at although nothing is known of it. */
  readonly isNamed: boolean;
  /** Keys of tests that are known to be flaky: then nothing else is looked at. Empty to look for them. */
  readonly suspected: ReadonlySet<string>;
  readonly run: RunByIds;
  /** The most runs of one test under one condition. */
  readonly runs: number;
  /** When the search has to be over, in milliseconds since the epoch. */
  readonly until: number;
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly say: (message: string) => void;
}

/** A flake with the condition that makes it red. */
export interface FoundFlake {
  readonly flake: Flake;
  readonly target: ListedTest;
  readonly under: Condition;
}

/** What the runs of the whole selection have shown. */
interface Seen {
  readonly counts: Map<string, Count>;
  /** What ran before a red test in its worker, and beside it in others, in order; of the first red run of each. */
  readonly around: Map<string, { readonly before: readonly string[]; readonly beside: readonly string[] }>;
  /** The most tests that ran at the same time. */
  workers: number;
}

/** A test that is not known to be flaky is looked at as if it failed at least this often. */
const LEAST_RATE = 0.1;
/** The share of the time in which the whole selection is run to find what is flaky. */
const SHARE_OF_ROUNDS = 1 / 3;

/** Where a machine may be that is not here: the farthest ahead of and behind the universal time. */
const elsewhere = ['Pacific/Kiritimati', 'Pacific/Pago_Pago'].map((TZ) => ({ TZ }));

/** Finds the flaky tests of a suite, what makes each red, and how often it then is (FL-1, FL-2). Tells each as soon as it is found. */
export async function findFlakes(
  search: FlakeSearch,
  tell: (found: FoundFlake) => Promise<void>,
): Promise<readonly FoundFlake[]> {
  const seen = await rounds(search);
  const byKey = new Map(search.listed.map((one) => [one.key, one]));
  const selected = new Set(search.first.tests.map(({ test }) => keyOf(test)));
  const isSuspect = (key: string) =>
    search.suspected.size > 0
      ? search.suspected.has(key)
      : search.isNamed || (seen.counts.get(key)?.red ?? 0) > 0;
  const suspects = [...selected].filter(isSuspect).flatMap((key) => byKey.get(key) ?? []);
  const found: FoundFlake[] = [];
  const take = async (one: FoundFlake | null) => {
    if (!one) return;
    found.push(one);
    await tell(one);
  };
  for (const [at, target] of suspects.entries()) {
    const now = search.now();
    // What one test does not use is there for the others.
    const until = now + (search.until - now) / (suspects.length - at);
    await take(await explain({ ...search, until }, { target, seen }));
  }
  const isAsked = search.suspected.size > 0;
  const green = isAsked
    ? []
    : [...selected].filter((key) => !isSuspect(key)).flatMap((key) => byKey.get(key) ?? []);
  for (const one of await ofTime(search, green, seen)) await take(one);
  return found;
}

const isOver = ({ signal, until, now }: FlakeSearch) => signal.aborted || now() >= until;

/** Runs the whole selection again as it is configured, to see what is flaky in it. */
async function rounds(search: FlakeSearch): Promise<Seen> {
  const seen: Seen = { counts: new Map(), around: new Map(), workers: 1 };
  addRound(seen, search.first.tests);
  const started = search.now();
  const until = started + (search.until - started) * SHARE_OF_ROUNDS;
  const most =
    search.isNamed || search.suspected.size > 0 ? 1 : Math.min(MOST_REPEATS, Math.ceil(search.runs / 10));
  for (let done = 1; done < most && !isOver({ ...search, until });) {
    const each = Math.max(1, search.first.durationMs);
    const times = Math.max(1, Math.min(most - done, 5, Math.floor((until - search.now()) / each)));
    const { tests } = await search.run({
      ids: null,
      args: [`--repeat-each=${times}`],
      env: {},
      trace: false,
    });
    // Playwright runs the selection once for each repetition: the n-th of each test is one run of it.
    const nth = new Map<string, number>();
    const byRound: TestResult[][] = [];
    for (const one of tests) {
      const key = keyOf(one.test);
      const n = nth.get(key) ?? 0;
      nth.set(key, n + 1);
      (byRound[n] ??= []).push(one);
    }
    for (const round of byRound) addRound(seen, round);
    done += times;
  }
  return seen;
}

function addRound(seen: Seen, tests: readonly TestResult[]): void {
  const { counts, around } = seen;
  const ran = tests.flatMap((one) => (one.ran ? [{ ...one, ...one.ran, key: keyOf(one.test) }] : []));
  const inOrder = ran.toSorted((a, b) => a.startedAt - b.startedAt);
  for (const one of inOrder) {
    const { key, worker, startedAt, durationMs, outcome } = one;
    counts.set(key, plus(counts.get(key) ?? none, countIn([one], key)));
    const overlaps = inOrder.filter(
      (other) => other.startedAt <= startedAt + durationMs && other.startedAt + other.durationMs >= startedAt,
    );
    const atOnce = new Set(overlaps.map((other) => other.worker)).size;
    seen.workers = Math.max(seen.workers, atOnce);
    if (outcome !== 'unexpected' || around.has(key)) continue;
    const before = inOrder.filter((other) => other.worker === worker && other.startedAt < startedAt);
    const beside = overlaps.filter((other) => other.worker !== worker);
    around.set(key, { before: before.map((b) => b.key), beside: beside.map((b) => b.key) });
  }
}

/** How many runs of one condition count before it is looked at again. */
const batches = [5, 5, 10, MOST_REPEATS];

/** Runs a test under a condition until its count says enough (FL-1). */
async function measure(
  search: FlakeSearch,
  under: Condition,
  { target, expected }: { readonly target: ListedTest; readonly expected: number },
): Promise<{ readonly count: Count; readonly shown: ReturnType<typeof shownBy> }> {
  let count = none;
  for (let look = 1; ; look += 1) {
    const shown = shownBy(count, { look: Math.max(1, look - 1), expected });
    if (shown !== 'open' || count.runs >= search.runs || isOver(search)) return { count, shown };
    const times = Math.min(batches[look - 1] ?? MOST_REPEATS, search.runs - count.runs);
    const { tests } = await runUnder(search.run, under, { target, times });
    const now = countIn(tests, target.key);
    if (now.runs === 0) return { count, shown };
    count = plus(count, now);
  }
}

interface Suspect {
  readonly target: ListedTest;
  readonly seen: Seen;
}

/** Finds out by experiment what makes a test red (FL-2). Null if it was never red, or always is. */
async function explain(search: FlakeSearch, { target, seen }: Suspect): Promise<FoundFlake | null> {
  const inSuite = seen.counts.get(target.key) ?? none;
  const rate = Math.max(surelyAtLeast(inSuite), LEAST_RATE);
  const { count, shown } = await measure(search, alone, { target, expected: rate });
  const named = testName(target.test.titlePath);
  const under = (kind: FlakeKind, condition: Condition, words: string) =>
    foundUnder(search, { target, kind, condition, words, alone: count });
  const suite: Condition = { others: [], workers: null };
  if (count.red > 0 && count.red < count.runs)
    return foundFlake({ target, kind: 'random', condition: alone, words: 'alone', alone: count, red: count });
  if (count.red > 0) {
    if (inSuite.red === inSuite.runs) {
      search.say(`${named} is red in all of ${count.runs + inSuite.runs} runs: broken, not flaky`);
      return null;
    }
    const needed = await surrounding(search, { target, seen, rate: 1, wanted: 'green', workers: 1 });
    const words = needed ? `without ${namesOf(needed)} before it` : 'alone';
    return foundFlake({
      target,
      kind: 'order',
      condition: alone,
      words,
      alone: count,
      red: count,
      others: needed ?? [],
    });
  }
  const polluters = await surrounding(search, { target, seen, rate, wanted: 'red', workers: 1 });
  if (polluters) return under('order', { others: polluters, workers: 1 }, `after ${namesOf(polluters)}`);
  if (seen.workers > 1 && inSuite.red > 0) {
    const beside = await partner(search, { target, seen, rate });
    if (beside) return under('data', { others: [beside], workers: 2 }, `beside ${namesOf([beside])}`);
    const load = await underLoad(search, { target, seen, rate });
    if (load)
      return under(
        'load',
        load,
        `beside ${load.others.length === 0 ? 'copies of itself' : 'others'} in ${load.workers} workers`,
      );
  }
  const [there] = await ofTime(search, [target], seen);
  if (there) return there;
  if (inSuite.red === 0) {
    const open = shown === 'green' ? '' : ', fewer than would say enough';
    search.say(`${named} was green in all of ${count.runs + inSuite.runs} runs${open}`);
    return null;
  }
  return foundFlake({
    target,
    kind: 'random',
    condition: suite,
    words: 'in the whole suite',
    alone: count,
    red: inSuite,
  });
}

/** How often a condition is tried before it counts as green: a test with this rate is then missed in one of a hundred. */
function enough(rate: number, most = MOST_REPEATS): number {
  return Math.min(most, Math.max(2, Math.ceil(Math.log(0.01) / Math.log1p(-Math.min(rate, 0.99)))));
}

interface Around extends Suspect {
  readonly rate: number;
  readonly wanted: 'red' | 'green';
  readonly workers: number;
}

/** Finds the smallest set of tests that turns a test red (or, if it needs them, green) when they run before it; null if there is none. */
async function surrounding(search: FlakeSearch, around: Around): Promise<readonly ListedTest[] | null> {
  const { target, seen, wanted, workers } = around;
  const at = search.listed.indexOf(target);
  const earlier = search.listed.slice(0, at).filter(({ test }) => test.project === target.test.project);
  const inFile = earlier.filter(({ test }) => test.location.file === target.test.location.file);
  const inWorker = new Set(seen.around.get(target.key)?.before);
  const sets = [inFile, earlier.filter(({ key }) => inWorker.has(key)), earlier];
  const tried = new Set<number>();
  let times = enough(wanted === 'green' ? 0.99 : around.rate);
  const isMade = async (others: readonly ListedTest[]) => {
    if (isOver(search)) return null;
    const inOrder = search.listed.filter((one) => others.includes(one));
    const { tests } = await runUnder(search.run, { others: inOrder, workers }, { target, times });
    const count = countIn(tests, target.key);
    if (count.runs === 0) return 'unresolved';
    const isWanted = wanted === 'red' ? count.red > 0 : count.red < count.runs;
    // What is red often is searched with fewer runs.
    if (isWanted && wanted === 'red') times = Math.min(times, enough(surelyAtLeast(count)));
    return isWanted ? 'green' : 'red';
  };
  for (const set of sets) {
    if (set.length === 0 || tried.has(set.length)) continue;
    tried.add(set.length);
    // The nearest first: a test that leaves something behind is mostly near.
    const found = await minimalSet(set.toReversed(), { test: isMade, apart: () => 0 });
    if (found) return search.listed.filter((one) => found.set.includes(one));
  }
  return null;
}

/** How many tests that ran beside it when it was red are tried with a test alone. */
const MOST_PARTNERS = 6;

/** Finds a test that makes another red beside it, where a third does not: the two share something. */
async function partner(
  search: FlakeSearch,
  { target, seen, rate }: Suspect & { rate: number },
): Promise<ListedTest | null> {
  const beside = new Set(seen.around.get(target.key)?.beside);
  const others = search.listed.filter(
    (one) => one !== target && one.test.location.file !== target.test.location.file,
  );
  const score = ({ key }: ListedTest) =>
    ((seen.counts.get(key)?.red ?? 0) > 0 ? 2 : 0) + (beside.has(key) ? 1 : 0);
  const likely = others.filter((one) => score(one) > 0).toSorted((a, b) => score(b) - score(a));
  const isRed = async (other: ListedTest) => {
    const times = enough(rate);
    const { tests } = await runUnder(search.run, { others: [other], workers: 2 }, { target, times });
    return countIn(tests, target.key).red > 0;
  };
  for (const one of likely.slice(0, MOST_PARTNERS)) {
    if (isOver(search)) return null;
    if (!(await isRed(one))) continue;
    const third = others.find(
      (other) => score(other) === 0 && other.test.location.file !== one.test.location.file,
    );
    return third && (await isRed(third)) ? null : one;
  }
  return null;
}

/** Finds the least load under which a test is red: copies of itself, or else others, in as many workers as the suite has; null if it is not load. */
async function underLoad(
  search: FlakeSearch,
  { target, seen, rate }: Suspect & { rate: number },
): Promise<Condition | null> {
  const { workers } = seen;
  const others = search.listed.filter((one) => one.test.location.file !== target.test.location.file);
  const files = [...new Map(others.map((one) => [one.test.location.file, one])).values()];
  const loads = [[], files.slice(0, 2 * workers), others].map((one) => ({ others: one, workers }));
  for (const under of loads) {
    if (isOver(search)) return null;
    const { tests } = await runUnder(search.run, under, { target, times: enough(rate) });
    if (countIn(tests, target.key).red > 0) return under;
  }
  return null;
}

/** Finds tests that are red only in another time zone, by one run of all of them in each. */
async function ofTime(
  search: FlakeSearch,
  targets: readonly ListedTest[],
  seen: Seen,
): Promise<FoundFlake[]> {
  const found: FoundFlake[] = [];
  for (const env of elsewhere) {
    const left = targets.filter((one) => !found.some(({ target }) => target === one));
    if (left.length === 0 || isOver(search)) break;
    const ids = left.flatMap((one) => one.ids[0] ?? []);
    const { tests } = await search.run({ ids, args: [], env, trace: false });
    const condition: Condition = { others: [], workers: 1, env };
    for (const target of left) {
      if (countIn(tests, target.key).red === 0) continue;
      const here = seen.counts.get(target.key) ?? none;
      const words = `with TZ=${env.TZ}`;
      const one = await foundUnder(search, { target, kind: 'time', condition, words, alone: here });
      if (one && one.flake.red.red > 0) found.push(one);
    }
  }
  return found;
}

interface Found {
  readonly target: ListedTest;
  readonly kind: FlakeKind;
  readonly condition: Condition;
  readonly words: string;
  readonly alone: Count;
}

/** Measures how often a test is red under what makes it red. */
async function foundUnder(search: FlakeSearch, found: Found): Promise<FoundFlake | null> {
  const { target } = found;
  const { count } = await measure(search, found.condition, { target, expected: LEAST_RATE });
  return count.red > 0 ? foundFlake({ ...found, red: count }) : null;
}

function foundFlake({
  target,
  kind,
  condition,
  words,
  alone,
  red,
  others,
}: Found & { readonly red: Count; readonly others?: readonly ListedTest[] }): FoundFlake {
  const named = kind === 'load' ? [] : (others ?? condition.others);
  const flake: Flake = {
    test: target.test,
    kind,
    red,
    alone,
    others: named.map(({ test }) => test),
    condition: words,
    difference: [],
  };
  return { flake, target, under: condition };
}

function namesOf(tests: readonly ListedTest[]): string {
  return tests.map(({ test }) => testName(test.titlePath)).join(' and ');
}
