import type { Blame } from '../../model/blame.js';
import type { DiagnosedFailure } from '../../model/cause.js';
import { type MinimalSet, minimalSet, type Outcome } from '../../minimal-set.js';
import type { Candidate } from '../../workspace/candidates.js';
import { likelihood } from '../../diagnose/likelihood.js';
import { distanceBetween, type History } from './history.js';

/** What a Playwright run showed of a test with some hunks out; `other` if it was red with another error. */
export type Seen = Outcome | 'other';

/** How many single hunks that the failure names are tried before sets. */
const MOST_SINGLE = 3;

/** Hunks that a run takes out together, so that one of them is worth a look if the test was green. */
const MOST_IN_COMPANY = 30;

/** What one run has shown. */
interface Row {
  readonly out: ReadonlySet<Candidate>;
  readonly seen: Seen;
  /** Whether a set was asked for, so that the run tells nothing of single hunks. */
  readonly isForSet: boolean;
}

/**
 * The search for the change that broke one cause. First single hunks are taken out, those first that the failure names; then sets, in which commits
 * are told apart before the hunks of one. It asks for one run after the other: after each run, it goes through its steps again with what all runs have
 * shown, as far as the first step whose outcome is not known.
 */
export class Search {
  readonly causeId: string;
  readonly lead: DiagnosedFailure;
  /** What it looks through now. */
  history: History;
  /** What it waits for a run without; null once it has ended. */
  asked: readonly Candidate[] | null = null;
  /** Whether it looks for a set. What several hunks do together would be mistaken for what one of them does in the company of others. */
  isForSet = false;
  /** Why it ended before its time; null otherwise. */
  endedBy: Blame['endedBy'] = null;
  /** The smallest set so far that turns the test green; null if there is none. */
  found: MinimalSet<Candidate> | null = null;
  readonly #rows: Row[] = [];
  /** A hunk that is to be taken out alone, because runs with others out told nothing of it. */
  #alone: Candidate | null = null;
  #older: () => Promise<History | null>;

  /** `older` returns what to look through if nothing in the first history is the cause. */
  constructor(
    causeId: string,
    lead: DiagnosedFailure,
    { history, older }: { readonly history: History; readonly older: () => Promise<History | null> },
  ) {
    [this.causeId, this.lead, this.history, this.#older] = [causeId, lead, history, older];
  }

  /** Goes on as far as it can without another run. */
  async advance(): Promise<void> {
    const best = this.#best();
    this.asked = null;
    this.found = (await this.#smallest()) ?? (this.endedBy ? best : this.#best());
  }

  /** Whether its test was red without any of these hunks, so that they did not break it. */
  isRedWithout(hunks: readonly Candidate[]): boolean {
    return this.#rows.some(({ out, seen }) => seen === 'red' && hunks.every((hunk) => out.has(hunk)));
  }

  /** Whether runs have shown that what broke its test is not what broke that of another search. */
  isApartFrom(other: Search): boolean {
    if (this.history !== other.history) return false;
    const [own, others] = [this.found?.set, other.found?.set];
    if (own && others && !own.some((hunk) => others.includes(hunk))) return true;
    return (own && other.isRedWithout(own)) === true || (others && this.isRedWithout(others)) === true;
  }

  /** Records a run. */
  async see(out: ReadonlySet<Candidate>, seen: Seen): Promise<void> {
    const [hunk, ...more] = this.asked ?? [];
    const isAsked = hunk !== undefined && more.length === 0 && out.has(hunk);
    const before = isAsked && this.#suspects(hunk)?.length;
    this.#rows.push({ out, seen, isForSet: this.isForSet });
    if (isAsked && this.#suspects(hunk)?.length === before) this.#alone = hunk;
    await this.advance();
  }

  /** Ends it with what it has found so far. */
  async end(endedBy: Blame['endedBy']): Promise<void> {
    this.endedBy = endedBy;
    await this.advance();
  }

  /** Whether a run for it may take out hunks that others ask for. */
  get canShare(): boolean {
    const [hunk, ...more] = this.asked ?? [];
    const isSingle = hunk !== undefined && more.length === 0 && hunk !== this.#alone;
    return isSingle && !this.isForSet && this.lead.failure.scope === 'test';
  }

  get stats(): Pick<Blame, 'runs' | 'unresolved'> & { readonly wasRed: boolean } {
    const times = (of: Outcome) => this.#rows.filter(({ seen }) => seen === of).length;
    return { runs: this.#rows.length, unresolved: times('unresolved'), wasRed: times('red') > 0 };
  }

  /** Only if no change of the app turns the test green, changes to the tests are taken out, too. */
  async #smallest(): Promise<MinimalSet<Candidate> | null> {
    const { candidates } = this.history;
    const app = candidates.filter(({ inTests }) => !inTests);
    const tests = candidates.filter(({ inTests }) => inTests);
    const found = (await this.#smallestOf(app, app)) ?? (await this.#smallestOf(tests, candidates));
    if (found || this.asked || this.endedBy) return found;
    const older = await this.#older();
    if (!older) return null;
    [this.history, this.#older] = [older, async () => null];
    return this.#smallest();
  }

  async #smallestOf(
    single: readonly Candidate[],
    all: readonly Candidate[],
  ): Promise<MinimalSet<Candidate> | null> {
    if (single.length === 0 || this.asked) return null;
    this.isForSet = false;
    const tried = new Set<Candidate>();
    const named = this.#ordered(single);
    for (let hunk = named.shift(); hunk; hunk = this.#hinted(tried) ?? named.shift()) {
      const outcome = this.#ask([hunk]);
      if (outcome === 'green') return { set: [hunk], isMinimal: true };
      if (outcome === null) return null;
      tried.add(hunk);
    }
    this.isForSet = true;
    return minimalSet(all, { test: async (out) => this.#ask(out), apart: distanceBetween });
  }

  /** Returns what is known of the test without these hunks; null if a run is needed, for which it asks. */
  #ask(out: readonly Candidate[]): Outcome | null {
    const known = this.#known(out);
    if (known === null && !this.endedBy) this.asked ??= out;
    return known;
  }

  #known(out: readonly Candidate[]): Outcome | null {
    const isSame = (row: Row) => row.out.size === out.length && out.every((hunk) => row.out.has(hunk));
    const exact = this.#rows.find(isSame);
    if (exact) return exact.seen === 'other' ? 'red' : exact.seen;
    const [hunk, ...more] = out;
    const isSingle = hunk !== undefined && more.length === 0;
    if (isSingle && hunk === this.#alone) return null;
    // Without fewer hunks than in a run that was red, the test is red, too.
    if (this.isRedWithout(out)) return 'red';
    return isSingle && !this.isForSet && this.#suspects(hunk)?.length === 1 ? 'green' : null;
  }

  /** Returns the hunks of which one has turned the test green in all runs without this one; null if there was none. */
  #suspects(hunk: Candidate): readonly Candidate[] | null {
    const greens = this.#greenInCompany().filter((out) => out.has(hunk));
    const innocent = this.#innocent();
    const [first] = greens;
    if (!first) return null;
    return [...first].filter(
      (one) => one === hunk || (!innocent.has(one) && greens.every((out) => out.has(one))),
    );
  }

  /** The sets of hunks, each asked for by itself, without which the test was green. */
  #greenInCompany(): ReadonlySet<Candidate>[] {
    return this.#rows.flatMap(({ out, seen, isForSet }) => (seen === 'green' && !isForSet ? [out] : []));
  }

  #innocent(): ReadonlySet<Candidate> {
    return new Set(this.#rows.flatMap(({ out, seen }) => (seen === 'red' ? [...out] : [])));
  }

  /** What is known to turn the test green by now. */
  #best(): MinimalSet<Candidate> | null {
    const [hunk, ...more] = this.asked ?? [];
    const suspects = hunk && more.length === 0 ? this.#suspects(hunk) : null;
    const greens = this.#rows.flatMap(({ out, seen }) => (seen === 'green' ? [[...out]] : []));
    const [set] = [...greens, ...(suspects ? [suspects] : [])].toSorted((a, b) => a.length - b.length);
    return set ? { set, isMinimal: set.length === 1 } : null;
  }

  /** What turned the test green in company, where the hunk that was asked for does not, points to the company. */
  #hinted(tried: ReadonlySet<Candidate>): Candidate | undefined {
    const innocent = this.#innocent();
    const shared = this.#greenInCompany().filter(({ size }) => size <= MOST_IN_COMPANY);
    return shared.flatMap((out) => [...out]).find((hunk) => !innocent.has(hunk) && !tried.has(hunk));
  }

  /** Returns the few that the failure names most, of the same rank the newest first; all if there are no more. */
  #ordered(candidates: readonly Candidate[]): Candidate[] {
    const likely = likelihood(this.lead);
    const rates = new Map(candidates.map((one) => [one, likely(one.hunk)]));
    const rateOf = (one: Candidate) => rates.get(one) ?? 0;
    const ordered = candidates.toSorted((a, b) => rateOf(b) - rateOf(a));
    return candidates.length <= MOST_SINGLE
      ? ordered
      : ordered.filter((one) => rateOf(one) > 0).slice(0, MOST_SINGLE);
  }
}

/** What one Playwright run takes out, and for which searches. */
export interface Round {
  readonly out: ReadonlySet<Candidate>;
  readonly searches: readonly Search[];
}

/**
 * The runs that searches share. A search for a single hunk has a number, and a run takes out the hunks of all whose number has a certain bit: so three
 * runs tell the hunks of six searches from each other, and two the first of all from any number of others.
 */
export class Rounds {
  readonly #numbers: ReadonlyMap<Search, number>;
  #run = 0;

  constructor(searches: readonly Search[]) {
    // No other number has the two lowest bits of the first.
    const numbers = Array.from({ length: 2 * searches.length }, (_, at) => at + 1);
    const free = numbers.filter((number) => number === 1 || number % 4 !== 1);
    this.#numbers = new Map(searches.map((search, at) => [search, free[at] ?? 1]));
  }

  /** Returns what the next run takes out: what the first of these searches asks for and, if that is a single hunk, the hunks of others. */
  next(searches: readonly Search[]): Round | null {
    const asking = searches.filter(({ asked }) => asked !== null);
    const [first] = asking;
    if (!first?.asked) return null;
    const ofHistory = asking.filter(({ history }) => history === first.history);
    if (first.canShare) return this.#shared(ofHistory.filter(({ canShare }) => canShare));
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
