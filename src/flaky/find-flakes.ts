import { minimalSet } from '../blame/minimal-set.js';
import { testName } from '../core/failure.js';
import { type Count, isHigher, shownBy, surelyAtLeast } from '../core/failure-rate.js';
import type { Flake, FlakeKind } from '../core/flake.js';
import { emulated } from '../playwright/emulation.js';
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

/** What runs of the suite have shown. */
interface Seen {
  readonly counts: Map<string, Count>;
  /** Of each red run of a test: which tests were before it in its worker, and which beside it in others. */
  readonly reds: Map<string, Record<Side, ReadonlySet<string>>[]>;
  /** The most tests that ran at the same time. */
  workers: number;
  /** Whether a red test has been looked for in runs of the whole suite. */
  isWhole: boolean;
}

type Side = 'before' | 'beside';

interface Suspect {
  readonly target: ListedTest;
  readonly seen: Seen;
}

/** A condition that may make a test red, and what its runs have shown. */
interface Trial {
  readonly kind: FlakeKind;
  readonly under: Condition;
  readonly words: (others: readonly ListedTest[]) => string;
  /** Under what the test has to be green, if not by itself. */
  readonly control?: Condition;
  count: Count;
}

/** A test that is not known to be flaky is looked at as if it failed at least this often. */
const LEAST_RATE = 0.1;
/** The share of the time in which the suite is run to find what is flaky. */
const SHARE_OF_ROUNDS = 1 / 3;
/** How often each condition is tried: what is always red under one is found before what is rarely red under any costs time. */
const EFFORTS = [4, MOST_REPEATS];
/** How many tests one trial runs at most, the repetitions included; it tries its condition at least twice. */
const MOST_IN_TRIAL = 200;

/** Finds the flaky tests of a suite, what makes each red, and how often it then is (FL-1, FL-2). Tells each as soon as it is found. */
export async function findFlakes(
  search: FlakeSearch,
  tell: (found: FoundFlake) => Promise<void>,
): Promise<readonly FoundFlake[]> {
  const { first, suspected, isNamed } = search;
  const seen: Seen = {
    counts: new Map(),
    reds: new Map(),
    workers: 1,
    isWhole: !isNamed && first.tests.length > 0,
  };
  addRound(seen, first.tests);
  if (!isNamed && suspected.size === 0) await rounds(search, seen);
  const selected = new Set(first.tests.map(({ test }) => keyOf(test)));
  const isSuspect = ({ key }: ListedTest) =>
    suspected.size > 0 ? suspected.has(key) : isNamed || (seen.counts.get(key)?.red ?? 0) > 0;
  const tests = search.listed.filter(({ key }) => selected.has(key) || suspected.has(key));
  const suspects = tests.filter(isSuspect);
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
  // What is red in another time zone alone is green in all of these runs.
  const green = suspected.size > 0 ? [] : tests.filter((one) => !isSuspect(one));
  for (const trial of zones) {
    if (green.length === 0 || isOver(search)) break;
    const { env = {} } = trial.under;
    const ids = green.flatMap(({ ids: [id = []] }) => id);
    const run = await search.run({ ids, args: [], env, trace: false });
    for (const target of green) {
      const count = countIn(run.tests, target.key);
      if (count.red === 0 || found.some((one) => one.target === target)) continue;
      await take(await claim(search, { target, seen }, { own: newTrial(own), trial: { ...trial, count } }));
    }
  }
  return found;
}

const isOver = ({ signal, until, now }: FlakeSearch) => signal.aborted || now() >= until;

/** Runs the suite again as it is configured, to see what is flaky in it. */
async function rounds(search: FlakeSearch, seen: Seen): Promise<void> {
  const started = search.now();
  const until = started + (search.until - started) * SHARE_OF_ROUNDS;
  const most = Math.min(MOST_REPEATS, Math.ceil(search.runs / 10));
  const share = search.listed.length / Math.max(1, search.first.tests.length);
  const each = Math.max(1, search.first.durationMs * (seen.isWhole ? 1 : share));
  for (let done = 1; done < most && !isOver({ ...search, until });) {
    const times = Math.max(1, Math.min(most - done, 5, Math.floor((until - search.now()) / each)));
    const args = [`--repeat-each=${times}`];
    const ids = seen.isWhole ? null : search.listed.flatMap((one) => one.ids.slice(0, times).flat());
    const { tests } = await search.run({ ids, args, env: {}, trace: false });
    // Playwright runs the selection once for each repetition: the n-th of each test is one run of it.
    const nth = new Map<string, number>();
    const byRound: TestResult[][] = [];
    for (const one of tests) {
      const key = keyOf(one.test);
      const n = nth.get(key) ?? 0;
      nth.set(key, n + 1);
      (byRound[n] ??= []).push(one);
    }
    for (const round of byRound) addRound(seen, round, tests);
    done += times;
  }
}

/** Adds a run of each test; `all` are those that ran at that time, too. */
function addRound(seen: Seen, tests: readonly TestResult[], all = tests): void {
  const ran = all.flatMap((one) => (one.ran ? [{ ...one, ...one.ran, key: keyOf(one.test) }] : []));
  const ofRound = new Set(tests.map(({ test }) => test.id));
  for (const one of ran) {
    const { key, test, worker, startedAt, durationMs, outcome } = one;
    if (!ofRound.has(test.id)) continue;
    seen.counts.set(key, plus(seen.counts.get(key) ?? none, countIn([one], key)));
    const during = ran.filter(
      (other) => other.startedAt <= startedAt + durationMs && other.startedAt + other.durationMs >= startedAt,
    );
    const atItsStart = ran.filter(
      (other) => other.startedAt <= startedAt && other.startedAt + other.durationMs > startedAt,
    );
    seen.workers = Math.max(seen.workers, new Set(atItsStart.map((other) => other.worker)).size);
    if (outcome !== 'unexpected') continue;
    const before = ran.filter((other) => other.worker === worker && other.startedAt < startedAt);
    const beside = during.filter((other) => other.worker !== worker);
    const [b, d] = [before, beside].map((some) => new Set(some.map((other) => other.key)));
    seen.reds.set(key, [...(seen.reds.get(key) ?? []), { before: b ?? new Set(), beside: d ?? new Set() }]);
  }
}

/** The share of the red runs of a test in which what makes it red was there, by clocks that are not exact. */
const MOSTLY = 0.75;

/** The tests that were there in most red runs of a test, the surest first: what made it red is among them. */
function mostlyThere({ listed }: FlakeSearch, { target, seen }: Suspect, side: Side): readonly ListedTest[] {
  const reds = seen.reds.get(target.key) ?? [];
  const times = ({ key }: ListedTest) => reds.filter((red) => red[side].has(key)).length;
  const wasRed = ({ key }: ListedTest) => seen.reds.has(key);
  if (reds.length === 0) return [];
  return listed
    .filter((one) => one !== target && times(one) >= MOSTLY * reds.length)
    .toSorted((a, b) => times(b) - times(a) || Number(wasRed(b)) - Number(wasRed(a)));
}

const own = { kind: 'random', under: alone, words: () => 'alone' } as const;
const newTrial = (of: Omit<Trial, 'count'>): Trial => ({ ...of, count: none });

function atTime(words: string, env: Readonly<Record<string, string>>): Omit<Trial, 'count'> {
  return { kind: 'time', under: { ...alone, env }, words: () => `with ${words}` };
}

/** Where a machine may be that is not here: the farthest ahead of and behind the universal time. */
const zones = ['Pacific/Kiritimati', 'Pacific/Pago_Pago'].map((TZ) => atTime(`TZ=${TZ}`, { TZ }));

/** Machines and networks that are not as fast: what DevTools calls mid-tier mobile and slow 4G. */
const slow = [
  atTime('a CPU 4 times slower', emulated({ cpu: 4 })),
  atTime('a slow network (560 ms, 1.4 Mbit/s)', emulated({ latencyMs: 560, kbps: 1440 })),
];

/** Days on which dates go wrong: the last seconds of the year, and the next leap day. */
function clocks(now: number): Omit<Trial, 'count'>[] {
  const year = new Date(now).getFullYear();
  const days = [new Date(year, 11, 31, 23, 59, 50), new Date(year + 4 - (year % 4), 1, 29, 12)];
  // A test may not cope with any clock but the machine's own.
  const control: Condition = { ...alone, env: emulated({ clock: now }) };
  return days.map((day) => ({
    ...atTime(`the browser's clock at ${day.toString().slice(0, 24)}`, emulated({ clock: day.getTime() })),
    control,
  }));
}

/** Runs a test under a condition; false if that says no more, for example because the condition could not be made. */
async function tryOn(search: FlakeSearch, target: ListedTest, trial: Trial, times: number): Promise<boolean> {
  const left = Math.min(times, search.runs - trial.count.runs, MOST_REPEATS);
  if (left <= 0 || isOver(search)) return false;
  const run = await runUnder(search.run, trial.under, { target, times: left });
  const now = run.emulated === false ? none : countIn(run.tests, target.key);
  trial.count = plus(trial.count, now);
  return now.runs > 0;
}

/** How many runs of one condition count before it is looked at again. */
const batches = [5, 5, 10, MOST_REPEATS];

/** Runs a test under a condition until its count says enough (FL-1), or has so many runs. */
async function measure(
  search: FlakeSearch,
  target: ListedTest,
  trial: Trial,
  { expected = LEAST_RATE, most = search.runs } = {},
): Promise<void> {
  for (let look = 1; trial.count.runs < most; look += 1) {
    if (shownBy(trial.count, { look: Math.max(1, look - 1), expected }) !== 'open') return;
    if (!(await tryOn(search, target, trial, batches[look - 1] ?? MOST_REPEATS))) return;
  }
}

/** Runs a test under both conditions until it is surely more often red under the one than under the other; false if that can't be shown. */
async function isMoreRed(
  search: FlakeSearch,
  target: ListedTest,
  [trial, control]: readonly [Trial, Trial],
): Promise<boolean> {
  for (;;) {
    const [one, other] = [trial.count, control.count];
    if (isHigher(one, other)) return true;
    // A race is red everywhere.
    if (3 * other.red * one.runs >= one.red * other.runs && other.red > 0) return false;
    const fewer = trial.count.runs < control.count.runs ? trial : control;
    if (!(await tryOn(search, target, fewer, 5))) return false;
  }
}

/** Finds out by experiment what makes a test red (FL-2). Null if it was never red, or always is. */
async function explain(search: FlakeSearch, suspect: Suspect): Promise<FoundFlake | null> {
  const { target, seen } = suspect;
  const named = testName(target.test.titlePath);
  const byItself = newTrial(own);
  const inSuite = () => seen.counts.get(target.key) ?? none;
  await measure(search, target, byItself, { most: 10 });
  const { red, runs } = byItself.count;
  if (red > 0 && red < runs) return random(search, target, byItself);
  if (red > 0) {
    if (inSuite().red < inSuite().runs) return needing(search, suspect, byItself);
    search.say(`${named} is red in all of ${runs + inSuite().runs} runs: broken, not flaky`);
    return null;
  }
  if (!seen.isWhole) {
    await rounds(search, seen);
    seen.isWhole = true;
  }
  const trials = trialsFor(search, suspect);
  for (const effort of EFFORTS)
    for (const trial of trials) {
      const most = Math.max(2, Math.floor(MOST_IN_TRIAL / (trial.under.others.length + 1)));
      await tryOn(search, target, trial, Math.min(effort, most));
      if (trial.count.red === 0) continue;
      const found = await claim(search, suspect, { own: byItself, trial, trials });
      if (found) return found;
    }
  if (search.signal.aborted) return null;
  if (inSuite().red > 0) {
    const ended = isOver(search) ? '; flaky.time ended the search for what makes it red' : '';
    const words = () => `in the whole suite${ended}`;
    return foundFlake(target, { ...inTheSuite, words, count: inSuite() }, byItself.count);
  }
  // Tests that were asked for are run until they can't be as flaky as is worth knowing.
  await measure(search, target, byItself);
  if (byItself.count.red > 0) return random(search, target, byItself);
  const all = plus(byItself.count, inSuite());
  const isEnough = shownBy(all, { look: 1, expected: LEAST_RATE }) === 'green';
  search.say(
    `${named} was green in all of ${all.runs} runs${isEnough ? '' : ', fewer than would say enough'}`,
  );
  return null;
}

const inTheSuite = { kind: 'random', under: { others: [], workers: null } } as const;

async function random(search: FlakeSearch, target: ListedTest, byItself: Trial): Promise<FoundFlake> {
  await measure(search, target, byItself);
  return foundFlake(target, byItself, byItself.count);
}

/** What may make a test red that is green by itself: first what ran before it and beside it when it was red. */
function trialsFor(search: FlakeSearch, suspect: Suspect): readonly Trial[] {
  const { target, seen } = suspect;
  const { file } = target.test.location;
  const earlier = search.listed
    .slice(0, search.listed.indexOf(target))
    .filter(({ test }) => test.project === target.test.project);
  const after = (others: readonly ListedTest[]) => ({
    kind: 'order' as const,
    under: { others, workers: 1 },
    words: (some: readonly ListedTest[]) => `after ${namesOf(some)}`,
  });
  const isOfFile = ({ test }: ListedTest) => test.location.file === file;
  const there = mostlyThere(search, suspect, 'before');
  const orders = [earlier.filter(isOfFile), earlier.filter((one) => there.includes(one)), earlier];
  const [inFile, inWorker, all] = orders.map((others, at) =>
    orders.findIndex(({ length }) => length === others.length) === at && others.length > 0
      ? [after(others)]
      : [],
  );
  const wasRed = seen.reds.has(target.key);
  const beside = wasRed && seen.workers > 1 ? besides(search, suspect) : [];
  const times = wasRed ? slow : [...zones, ...clocks(search.now()), ...slow];
  return [...(inFile ?? []), ...(inWorker ?? []), ...beside, ...times, ...(all ?? [])].map(newTrial);
}

/** Any others will do (load), or those that mostly were there may share something with the test (data). */
function besides(search: FlakeSearch, suspect: Suspect): Omit<Trial, 'count'>[] {
  const { target, seen } = suspect;
  const fileOf = ({ test }: ListedTest) => test.location.file;
  const near = mostlyThere(search, suspect, 'beside').filter((one) => fileOf(one) !== fileOf(target));
  const files = new Set([target, ...near].map(fileOf));
  const others = [...new Map(search.listed.map((one) => [fileOf(one), one])).values()]
    .filter((one) => !files.has(fileOf(one)))
    .slice(0, 2 * seen.workers);
  const whom = others.length === 0 ? 'copies of itself' : 'others';
  const load = {
    kind: 'load' as const,
    under: { others, workers: seen.workers },
    words: () => `beside ${whom} in ${seen.workers} workers`,
  };
  const beside = (some: readonly ListedTest[]) => ({
    kind: 'data' as const,
    under: besideThem(some, seen.workers),
    words: (left: readonly ListedTest[]) => `beside ${namesOf(left)}`,
  });
  // Two that start together are beside each other more surely than among all that were there.
  const pairs = near.slice(0, MOST_PAIRS).map((one) => beside([one]));
  return [load, ...pairs, ...(near.length > 1 ? [beside(near)] : [])];
}

/** How many tests that were beside it when it was red are tried with a test alone. */
const MOST_PAIRS = 4;

/** With a worker to spare, a test would run beside a copy of itself. */
function besideThem(others: readonly ListedTest[], most: number | null): Condition {
  const files = new Set(others.map(({ test }) => test.location.file));
  return { others, workers: Math.min(most ?? 2, files.size + 1) };
}

interface Claim {
  readonly own: Trial;
  readonly trial: Trial;
  readonly trials?: readonly Trial[];
}

/** Shows that a condition makes a test red, and takes away from it what does not; null if it is not the condition. */
async function claim(
  search: FlakeSearch,
  suspect: Suspect,
  { own: byItself, trial, trials = [] }: Claim,
): Promise<FoundFlake | null> {
  const { target } = suspect;
  const control = trial.control ? newTrial({ ...own, under: trial.control }) : byItself;
  if (!(await isMoreRed(search, target, [trial, control])))
    return byItself.count.red > 0 ? random(search, target, byItself) : null;
  const load = trials.find(({ kind }) => kind === 'load');
  if (
    trial.kind === 'data' &&
    load &&
    !(await isMoreRed(search, target, [trial, load])) &&
    load.count.red > 0
  )
    return claim(search, suspect, { own: byItself, trial: load });
  const { others, workers } = trial.under;
  const isSet = trial.kind === 'order' || trial.kind === 'data';
  const set = isSet ? await smallest(search, suspect, { trial, wanted: 'red' }) : others;
  if (!set) return null;
  const under = trial.kind === 'data' ? besideThem(set, workers) : { ...trial.under, others: set };
  const least = set.length === others.length ? trial : newTrial({ ...trial, under });
  await measure(search, target, least);
  // What was picked for its many red runs may have had them by chance.
  if (least.count.red > 0) await measure(search, target, control, { expected: surelyAtLeast(least.count) });
  if (!isHigher(least.count, control.count))
    return byItself.count.red > 0 ? random(search, target, byItself) : null;
  return foundFlake(target, least, byItself.count);
}

/** A test that is red by itself, and green in the suite, needs some of the tests before it. */
async function needing(search: FlakeSearch, suspect: Suspect, byItself: Trial): Promise<FoundFlake> {
  const orders = trialsFor(search, suspect).filter(({ kind }) => kind === 'order');
  for (const trial of orders) {
    const needed = await smallest(search, suspect, { trial, wanted: 'green' });
    if (!needed) continue;
    const words = () => `without ${namesOf(needed)} before it`;
    return foundFlake(suspect.target, { ...byItself, kind: 'order', words }, byItself.count, needed);
  }
  return foundFlake(suspect.target, { ...byItself, kind: 'order' }, byItself.count);
}

/** How often a condition is tried before it counts as green: a test with this rate is then missed in one of a hundred. */
function enough(rate: number): number {
  return Math.min(MOST_REPEATS, Math.max(2, Math.ceil(Math.log(0.01) / Math.log1p(-Math.min(rate, 0.99)))));
}

/** Takes away the tests that a condition does not need to make a test red (or green); null if it no longer does. */
async function smallest(
  search: FlakeSearch,
  { target }: Suspect,
  { trial, wanted }: { readonly trial: Trial; readonly wanted: 'red' | 'green' },
): Promise<readonly ListedTest[] | null> {
  const { others, workers } = trial.under;
  let times = wanted === 'green' ? 2 : enough(surelyAtLeast(trial.count));
  const isMade = async (some: readonly ListedTest[]) => {
    if (isOver(search)) return null;
    if (some.length === others.length && trial.count.red > 0) return 'green';
    const inOrder = search.listed.filter((one) => some.includes(one));
    const under = trial.kind === 'data' ? besideThem(inOrder, workers) : { others: inOrder, workers };
    const count = countIn((await runUnder(search.run, under, { target, times })).tests, target.key);
    if (count.runs === 0) return 'unresolved';
    const isWanted = wanted === 'red' ? count.red > 0 : count.red < count.runs;
    // What is red often is searched with fewer runs.
    if (isWanted && wanted === 'red') times = Math.min(times, enough(surelyAtLeast(count)));
    return isWanted ? 'green' : 'red';
  };
  // The nearest first: a test that leaves something behind is mostly near.
  const found = await minimalSet(others.toReversed(), { test: isMade, apart: () => 0 });
  return found && others.filter((one) => found.set.includes(one));
}

function foundFlake(
  target: ListedTest,
  { kind, under, words, count }: Trial,
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

function namesOf(tests: readonly ListedTest[]): string {
  return tests.map(({ test }) => testName(test.titlePath)).join(' and ');
}
