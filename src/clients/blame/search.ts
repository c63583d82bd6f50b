import type { Blame } from '../../model/blame.js';
import type { DiagnosedFailure } from '../../model/cause.js';
import { minimalSet, type Outcome } from '../../minimal-set.js';
import { type Candidate, distanceBetween, type History } from '../../workspace/candidates.js';
import { likelihood } from '../../diagnose/likelihood.js';

/** What a Playwright run showed of a test with some hunks out; `other` if it was red with another error. */
export type Seen = Outcome | 'other';

/** How many single hunks are tried before all are taken out at once, and how many of those that the failure names after that. */
const most = { first: 3, named: 6 };

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
    else this.isAlone = this.suspects()?.length === before;
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

  /** Single hunks come first, then sets. Where taking out all is red, no fewer hunks do. */
  async #smallestOf(single: readonly Candidate[], all: readonly Candidate[]): Promise<Search['found']> {
    if (single.length === 0) return null;
    this.isForSet = false;
    const ordered = this.#ordered(single);
    const first = await this.#greenOf(ordered.slice(0, most.first));
    if (first || (await this.#ask(all)) === 'red') return first;
    const next = await this.#greenOf(ordered.slice(most.first));
    if (next) return next;
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

  /** Returns those that the failure names, the most likely first, and of the same rank the newest; or all if these are few. */
  #ordered(candidates: readonly Candidate[]): readonly Candidate[] {
    const likely = likelihood(this.lead);
    const rated = candidates
      .map((one) => ({ one, rate: likely(one.hunk) }))
      .toSorted((a, b) => b.rate - a.rate);
    const named = rated.filter(({ rate }) => rate > 0).slice(0, most.named);
    const few = rated.length <= most.first ? rated : named;
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
 * Returns the next run: what the first search asks for and, if that is a single hunk, the hunks of the others. Searches that were green in the same
 * company are told apart by halves.
 */
export function nextRound(searches: readonly Search[]): Round | null {
  const asking = searches.filter(({ asked }) => asked !== null);
  const [first] = asking;
  if (!first?.asked) return null;
  const out = new Set(first.asked);
  const alike = asking.filter(
    (one) =>
      one.history === first.history &&
      one.asked?.length === out.size &&
      one.asked.every((hunk) => out.has(hunk)),
  );
  const isShared =
    out.size === 1 &&
    alike.every(({ isAlone, isForSet }) => !isAlone && !isForSet) &&
    first.lead.failure.scope === 'test';
  if (!isShared) return { out, searches: alike };
  const others = asking.filter(
    (one) => one.history === first.history && one.asked?.length === 1 && !one.isAlone && !one.isForSet,
  );
  const companies = new Map<string, Search[]>();
  const numbers = new Map(first.history.candidates.map((one, at) => [one, at]));
  for (const one of others) {
    const suspects = one.suspects();
    const company =
      suspects
        ?.map((hunk) => numbers.get(hunk))
        .toSorted()
        .join() ?? one.causeId;
    companies.set(company, [...(companies.get(company) ?? []), one]);
  }
  for (const company of companies.values()) {
    const isFirst = company[0] === searches[0] && company.length > MOST_TOLD_APART;
    const taken = company.slice(0, isFirst ? 1 : Math.ceil(company.length / 2));
    for (const one of taken) for (const hunk of one.asked ?? []) out.add(hunk);
  }
  return { out, searches: others };
}

/** Of more, three runs do not tell each from the others, so that the first is told from all of them. */
const MOST_TOLD_APART = 4;
