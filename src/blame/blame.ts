import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { Blame } from '../core/blame.js';
import type { Cause, DiagnosedFailure } from '../core/cause.js';
import { gitSays } from '../git/git.js';
import { distanceBetween, blamedHunks, type History, notWhole, readHistory, restOf } from './candidates.js';
import { minimalSet } from './minimal-set.js';
import { type Trial, type TrialEffects, Trials } from './trials.js';
import { pathInside } from '../paths.js';

export interface BlameParts extends TrialEffects {
  readonly cwd: string;
  /** The total time for all searches of the run. */
  readonly timeMs: number;
  /** When the run began, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** The base commit named by a person, or null. */
  readonly named: string | null;
  /** Returns the newest commit at which a test was seen green here, or null. */
  readonly lastGreen: (testId: string) => Promise<string | null>;
  /** Absolute paths of what self-heal was given to read (`--from`): downloaded reports are no changes of the project. */
  readonly given: readonly string[];
  /** Whether a file belongs to the tests, by its path from the recorded root. */
  readonly isTest: (file: string) => boolean;
  /** Estimates how long a run of these tests takes; null without measurements. */
  readonly likelyMs: (ids: readonly string[] | null) => number | null;
  /**
   * Reports the result for a cause, or a sentence that says why there is none: whether nothing was found, or nothing was searched. A null id stands
   * for all causes; such a sentence is reported once.
   */
  readonly tell: (causeId: string | null, answer: Blame | string) => void;
  /** Searches even if it may not finish in time, because a person asked for it. */
  readonly always: boolean;
}

/** Finds the change that broke each cause, and returns the causes with the results. */
export type BlameCauses = (causes: readonly Cause[]) => Promise<Cause[]>;

/** Failing tests that are this fast in total run along in the searches for other causes, in milliseconds. */
const QUICK_MS = 5000;

/** Creates blame for one run. All causes share one time limit. */
export function createBlame(parts: BlameParts): BlameCauses {
  let leftMs = parts.timeMs;
  const trials = new Trials(parts);
  const isWrittenTo = writtenSince(parts);
  const toldForAll = new Set<string>();
  const tellForAll = (reason: string) => {
    if (!toldForAll.has(reason)) parts.tell(null, notSearched(reason));
    toldForAll.add(reason);
  };
  return async (causes) => {
    const startedAt = parts.now();
    const until = startedAt + leftMs;
    const read = historyReader(parts, isWrittenTo);
    const asked = causes.filter(({ environment }) => environment === null);
    const found = new Map<string, Blame>();
    for (const [at, { id, lead }] of asked.entries()) {
      if (parts.signal.aborted) break;
      const later = asked.slice(at + 1).map((one) => one.lead);
      const searchIn = (history: History) =>
        answerFor(parts, { causeId: id, lead, later, history, trials, until });
      const history = await read(lead);
      const near = typeof history === 'string' ? null : await searchIn(history);
      const older = isBlame(near) ? null : await olderThan(history, () => read(lead, { isOlder: true }));
      const far = older && (await searchIn(older));
      const hasSearched = typeof history !== 'string' && history.candidates.length > 0;
      const isNothing = hasSearched && typeof near === 'string' && typeof far === 'string';
      const answer = isNothing ? `${near}; before that, it ${far}` : (far ?? near);
      if (answer !== null) parts.tell(id, answer);
      else if (typeof history === 'string') tellForAll(history);
      if (isBlame(answer)) found.set(id, answer);
    }
    leftMs -= parts.now() - startedAt;
    return causes.map((cause) => {
      const blame = found.get(cause.id);
      return blame ? { ...cause, blame } : cause;
    });
  };
}

/**
 * Tells which files others have written to since the run began. A file that was unmodified when first checked is later written to only by
 * searches and fixes, so it keeps counting as unmodified.
 */
function writtenSince({ workspace, startedAt }: BlameParts): (file: string) => boolean {
  const still = new Set<string>();
  return (file) => {
    const found = lstatSync(path.join(workspace.root, file), { throwIfNoEntry: false });
    if (!found || Math.floor(found.mtimeMs) <= startedAt) still.add(file);
    return !still.has(file);
  };
}

/** Reads the changes, once per base. Files are read again in each round of a run, since fixes change them. */
function historyReader(
  parts: BlameParts,
  isWrittenTo: (file: string) => boolean,
): (lead: DiagnosedFailure, how?: { readonly isOlder: boolean }) => Promise<History | string> {
  const { workspace, named, contents, isTest } = parts;
  // Files edited by fixes of this run did not break the tests.
  const edited = workspace.edited();
  const given = parts.given.flatMap((place) => pathInside(workspace.root, place) || []);
  const isGiven = (file: string) => given.some((place) => file === place || file.startsWith(`${place}/`));
  const isLeftOut = (file: string) => edited.has(file) || isGiven(file) || isWrittenTo(file);
  const known = new Map<string, Promise<History | string>>();
  return async ({ failure }, { isOlder } = { isOlder: false }) => {
    const lastGreen =
      failure.scope === 'test' && named === null ? await parts.lastGreen(failure.test.id) : null;
    const key = `${lastGreen} ${isOlder}`;
    const request = { root: workspace.root, contents, named, lastGreen, isOlder, isTest, isLeftOut };
    const history =
      known.get(key) ??
      readHistory(request).catch((error: unknown) => `git cannot read the changes: ${gitSays(error)}`);
    known.set(key, history);
    return history;
  };
}

interface Asked {
  readonly causeId: string;
  readonly lead: DiagnosedFailure;
  /** Failures that are searched for later. */
  readonly later: readonly DiagnosedFailure[];
  readonly history: History;
  readonly trials: Trials;
  readonly until: number;
}

/**
 * Finds the change that broke a test. The test is run in the current tree with only app changes taken out; if that does not turn it green,
 * changes to the tests are taken out too. Returns a text that says why if nothing was found.
 */
async function answerFor(parts: BlameParts, asked: Asked): Promise<Blame | string> {
  const { causeId, lead, later, history, trials, until } = asked;
  const { candidates, base } = history;
  if (candidates.length === 0)
    return notSearched(`no change since ${base.commit.slice(0, 7)} can be the cause`);
  const startedAt = parts.now();
  const why = parts.always ? null : tooLong(parts, { lead, history, leftMs: until - startedAt });
  if (why !== null) return notSearched(why);
  const beside = lead.failure.scope === 'suite' ? [] : quickOnes(later);
  const { run, said } = trials.search({ causeId, lead, beside, until });
  const app = candidates.filter(({ inTests }) => !inTests);
  const search = { test: run, apart: distanceBetween };
  // Nothing is known to have been green: the files that the failure names are the likeliest, and cost one run to rule out.
  const concerned = base.from === 'recent' ? app.filter((one) => isNamedBy(lead, one.file.path)) : [];
  const isFew = concerned.length > 0 && concerned.length < app.length;
  const inNamed = isFew ? await minimalSet(concerned, search) : null;
  const inApp = inNamed ?? (app.length > 0 ? await minimalSet(app, search) : null);
  const found = inApp ?? (app.length < candidates.length ? await minimalSet(candidates, search) : null);
  if (found === null) return `found no change to blame: ${whyNothing(said, history)}`;
  const change = await trials.keep(found.set);
  if (change === null) return 'found no change to blame: files changed during the search';
  const place = { root: parts.workspace.root, cwd: parts.cwd };
  const hunks = await blamedHunks(found.set, history, place);
  return {
    base,
    hunks,
    rest: await restOf(hunks, history, { ...place, found: found.set }),
    isMinimal: found.isMinimal,
    endedBy: found.isMinimal ? null : said.endedBy,
    outOf: candidates.length,
    runs: said.runs,
    unresolved: said.unresolved,
    durationMs: parts.now() - startedAt,
    change,
  };
}

function isBlame(answer: Blame | string | null): answer is Blame {
  return answer !== null && typeof answer !== 'string';
}

/**
 * Returns the last commits if nothing is known to have been green and what is not committed is not the cause; null if there is nothing older to
 * search.
 */
async function olderThan(
  history: History | string,
  readOlder: () => Promise<History | string>,
): Promise<History | null> {
  if (typeof history !== 'string' && history.base.from !== 'head') return null;
  const older = await readOlder();
  return typeof older !== 'string' && older.base.from === 'recent' ? older : null;
}

function notSearched(reason: string): string {
  return `did not look for a change to blame: ${reason}`;
}

/** Whether what decided a failure, or a place that it came from, is in a file. Paths in messages begin at the project's folder or a package's. */
function isNamedBy({ diagnosis, evidence }: DiagnosedFailure, file: string): boolean {
  const said = [
    diagnosis.facts.source,
    ...diagnosis.why.map((one) => one.evidence),
    ...evidence.sources.map(({ at }) => at),
  ];
  const name = file.split('/').slice(-2).join('/');
  return said.some((text) => text?.includes(name));
}

function whyNothing({ endedBy, wasRed }: Trial['said'], { base, candidates, isWhole }: History): string {
  if (endedBy === 'interrupt') return 'interrupted';
  if (endedBy !== null) return 'no result within the time for it (blame.time)';
  const at = base.commit.slice(0, 7);
  const hunks = candidates.length === 1 ? 'the 1 change' : `all ${candidates.length} changes`;
  if (!wasRed) return `its test does not run without ${hunks} since ${at}`;
  const red = `it also fails without ${hunks} since ${at}`;
  return isWhole ? `${red}: the cause is older, or not a file of the repository` : `${red}, and ${notWhole}`;
}

/** Returns as many failures, in order, as are fast in total. */
function quickOnes(failures: readonly DiagnosedFailure[]): DiagnosedFailure[] {
  let sum = 0;
  return failures.filter(({ failure }) => {
    if (failure.scope === 'suite') return false;
    sum += failure.durationMs;
    return sum <= QUICK_MS;
  });
}

/** Returns the reason if a search is unlikely to finish in time, since it would only delay the agent; otherwise null. */
function tooLong(
  { likelyMs }: BlameParts,
  { lead, history, leftMs }: { lead: DiagnosedFailure; history: History; leftMs: number },
): string | null {
  const one = likelyMs(lead.failure.scope === 'suite' ? null : lead.rerunIds);
  const count = history.candidates.length;
  // A single candidate takes one run; the search among several, one more than its bisection needs.
  const runs = count === 1 ? 1 : 2 + Math.ceil(Math.log2(count + 1));
  if (one === null || one * runs <= leftMs) return null;
  return `about ${runs} run${runs === 1 ? '' : 's'} of ${Math.ceil(one / 1000)} s would exceed what is left of blame.time`;
}
