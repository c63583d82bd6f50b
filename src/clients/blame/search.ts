import type { Blame } from '../../model/blame.js';
import type { DiagnosedFailure } from '../../model/cause.js';
import { minimalSet, type Outcome } from '../../minimal-set.js';
import { type Candidate, distanceBetween, type History } from '../../workspace/candidates.js';
import { likelihood } from '../../diagnose/likelihood.js';

/** What a Playwright run showed of a test with some hunks out; `other` if it was red with another error. */
export type Seen = Outcome | 'other';

/** How many single hunks that the failure names are tried before sets. */
const MOST_SINGLE = 3;

/**
 * The search for the change that broke one cause. It asks for one run after the other, and `Rounds` makes them. First single hunks are taken out, those
 * first that the failure names; then sets, in which commits are told apart before the hunks of one.
 */
export class Search {
  readonly causeId: string;
  readonly lead: DiagnosedFailure;
  /** What it looks through now. */
  history: History;
  /** What it waits for; null once it has ended. */
  asked: readonly Candidate[] | null = null;
  /** Whether what it asks for is taken out alone, because runs with other hunks out disagreed. */
  isAlone = false;
  /** Whether it looks for a set. What several hunks do together would be mistaken for what one of them does in the company of others. */
  isForSet = false;
  /** Why it ended before its time; null otherwise. */
  endedBy: Blame['endedBy'] = null;
  /** The smallest set that turns the test green; null if there is none. */
  found: { readonly set: readonly Candidate[]; readonly isMinimal: boolean } | null = null;
  readonly #rows: { readonly out: ReadonlySet<Candidate>; readonly seen: Seen }[] = [];
  readonly #tried = new Set<Candidate>();
  #answer: (outcome: Outcome | null) => void = () => undefined;
  #asks: () => void = () => undefined;

  readonly #older: () => Promise<History | null>;

  /** `older` returns what to look through if nothing in the first history is the cause. */
  constructor(
    causeId: string,
    lead: DiagnosedFailure,
    { history, older }: { readonly history: History; readonly older: () => Promise<History | null> },
  ) {
    [this.causeId, this.lead, this.history, this.#older] = [causeId, lead, history, older];
  }

  /** Begins it; resolves when it has asked for its first run. */
  begin(): Promise<void> {
    return this.#until(() => void this.#search());
  }

  async #search(): Promise<void> {
    this.found = (await this.#smallest()) ?? this.#best();
    this.asked = null;
    this.#asks();
  }

  get stats(): Pick<Blame, 'runs' | 'unresolved'> & { readonly wasRed: boolean } {
    const times = (of: Outcome) => this.#rows.filter(({ seen }) => seen === of).length;
    return { runs: this.#rows.length, unresolved: times('unresolved'), wasRed: times('red') > 0 };
  }

  /** Records a run, and resolves when its next run is asked for. */
  async see(out: ReadonlySet<Candidate>, seen: Seen): Promise<void> {
    const { asked } = this;
    const before = this.suspects()?.length;
    this.#rows.push({ out, seen });
    const outcome = asked && this.#known(asked);
    if (outcome) await this.#until(() => this.#answer(outcome));
    else this.isAlone = asked?.every((hunk) => out.has(hunk)) === true && this.suspects()?.length === before;
  }

  /** Ends it with what it has found so far. */
  async end(endedBy: Blame['endedBy']): Promise<void> {
    this.endedBy = endedBy;
    await this.#until(() => this.#answer(null));
  }

  /** The hunks of which one has turned the test green, as far as the runs in company have told; null if it has not been green with what it asks for. */
  suspects(): readonly Candidate[] | null {
    const [hunk, ...more] = this.asked ?? [];
    if (!hunk || more.length > 0) return null;
    const greens = this.#rows.filter(({ out, seen }) => seen === 'green' && out.has(hunk));
    const innocent = this.#rows.filter(({ seen }) => seen === 'red').flatMap(({ out }) => [...out]);
    const [first] = greens;
    if (!first) return null;
    return [...first.out].filter(
      (one) => one === hunk || (!innocent.includes(one) && greens.every(({ out }) => out.has(one))),
    );
  }

  /** What is known to turn the test green by now. */
  #best(): Search['found'] {
    const greens = this.#rows.flatMap(({ out, seen }) => (seen === 'green' ? [[...out]] : []));
    const [set] = [...greens, ...(this.suspects() ? [this.suspects() ?? []] : [])].toSorted(
      (a, b) => a.length - b.length,
    );
    return set ? { set, isMinimal: set.length === 1 } : null;
  }

  /** The best answer so far, while it goes on. */
  get soFar(): Search['found'] {
    return this.found ?? this.#best();
  }

  /** What runs have shown of these hunks; null if one has to be made. Without fewer hunks than in a run that was red, the test is red, too. */
  #known(out: readonly Candidate[]): Outcome | null {
    const exact = this.#rows.find(
      (row) => row.out.size === out.length && out.every((one) => row.out.has(one)),
    );
    if (exact) return exact.seen === 'other' ? 'red' : exact.seen;
    if (this.isAlone) return null;
    if (this.#rows.some((row) => row.seen === 'red' && out.every((one) => row.out.has(one)))) return 'red';
    return this.suspects()?.length === 1 && this.asked === out ? 'green' : null;
  }

  readonly #ask = (out: readonly Candidate[]): Promise<Outcome | null> => {
    if (this.endedBy !== null) return Promise.resolve(null);
    this.isAlone = false;
    this.asked = null;
    const known = this.#known(out);
    if (known !== null) return Promise.resolve(known);
    this.asked = out;
    return new Promise((resolve) => {
      this.#answer = resolve;
      this.#asks();
    });
  };

  /** Does what makes it ask; resolves once it has asked for a run, or has ended. */
  #until(act: () => void): Promise<void> {
    return new Promise((resolve) => {
      this.#asks = resolve;
      act();
    });
  }

  /** Only if no change of the app turns the test green, changes to the tests are taken out, too. */
  async #smallest(): Promise<Search['found']> {
    const { candidates } = this.history;
    const [app, tests] = [false, true].map((is) => candidates.filter(({ inTests }) => inTests === is));
    const found =
      (await this.#smallestOf(app ?? [], app ?? [])) ?? (await this.#smallestOf(tests ?? [], candidates));
    const older = found === null && this.endedBy === null ? await this.#older() : null;
    if (older === null) return found;
    this.history = older;
    return this.#smallest();
  }

  /** Single hunks come first, then sets. */
  async #smallestOf(single: readonly Candidate[], all: readonly Candidate[]): Promise<Search['found']> {
    if (single.length === 0) return null;
    this.isForSet = false;
    const found = await this.#greenOf(this.#ordered(single));
    if (found) return found;
    this.isForSet = true;
    return minimalSet(all, { test: this.#ask, apart: distanceBetween });
  }

  /** Returns the first of these that turns the test green by itself. What turned it green in company and does not alone points to the company. */
  async #greenOf(hunks: readonly Candidate[]): Promise<Search['found']> {
    const left = [...hunks];
    for (let hunk = left.shift(); hunk; hunk = this.#hinted() ?? left.shift()) {
      const outcome = await this.#ask([hunk]);
      if (outcome === 'green') return { set: [hunk], isMinimal: true };
      this.#tried.add(hunk);
    }
    return null;
  }

  #hinted(): Candidate | undefined {
    const innocent = this.#rows.filter(({ seen }) => seen === 'red').flatMap(({ out }) => [...out]);
    const shared = this.#rows.filter(({ out, seen }) => seen === 'green' && out.size <= MOST_IN_COMPANY);
    const hinted = shared.flatMap(({ out }) => [...out]);
    return hinted.find((one) => !innocent.includes(one) && !this.#tried.has(one));
  }

  /** Returns the few that the failure names most, of the same rank the newest first; all if there are no more. */
  #ordered(candidates: readonly Candidate[]): readonly Candidate[] {
    const likely = likelihood(this.lead);
    const rated = candidates
      .map((one) => ({ one, rate: likely(one.hunk) }))
      .toSorted((a, b) => b.rate - a.rate);
    const named = rated.filter(({ rate }) => rate > 0).slice(0, MOST_SINGLE);
    const few = rated.length <= MOST_SINGLE ? rated : named;
    return few.map(({ one }) => one);
  }
}

/** Hunks that one run takes out for as many searches. */
const MOST_IN_COMPANY = 30;

/** What one Playwright run takes out, and for which searches. */
export interface Round {
  readonly out: ReadonlySet<Candidate>;
  readonly searches: readonly Search[];
}

/**
 * The runs that searches share. A search for a single hunk has a number, and a run takes out the hunks of all whose number has a certain bit: so three
 * runs tell seven hunks from each other, and the first of all from any number of others.
 */
export class Rounds {
  readonly #numbers: ReadonlyMap<Search, number>;
  #run = 0;

  constructor(searches: readonly Search[]) {
    // No other number has the three lowest bits of the first.
    const numbers = Array.from({ length: 2 * searches.length }, (_, at) => at + 1);
    const free = numbers.filter((number) => number === 1 || number % 8 !== 1);
    this.#numbers = new Map(searches.map((search, at) => [search, free[at] ?? 1]));
  }

  /** Returns what the next run takes out: what the first of these searches asks for and, if that is a single hunk, the hunks of others. */
  next(searches: readonly Search[]): Round | null {
    const asking = searches.filter(({ asked }) => asked !== null);
    const [first] = asking;
    if (!first?.asked) return null;
    const ofHistory = asking.filter(({ history }) => history === first.history);
    if (isShared(first)) return this.#shared(ofHistory.filter(isShared));
    const out = new Set(first.asked);
    const alike = ofHistory.filter(
      ({ asked }) => asked?.length === out.size && asked.every((hunk) => out.has(hunk)),
    );
    return { out, searches: alike };
  }

  #shared(searches: readonly Search[]): Round {
    const numbers = searches.map((search) => this.#numbers.get(search) ?? 1);
    const bits = Math.floor(Math.log2(Math.max(...numbers))) + 1;
    for (;;) {
      const bit = this.#run % bits;
      this.#run += 1;
      const taken = searches.filter((_, at) => ((numbers[at] ?? 0) >> bit) % 2 === 1);
      const out = new Set(taken.flatMap(({ asked }) => asked ?? []));
      if (out.size > 0) return { out, searches };
    }
  }
}

function isShared({ asked, isAlone, isForSet, lead }: Search): boolean {
  return asked?.length === 1 && !isAlone && !isForSet && lead.failure.scope === 'test';
}
