import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { Blame } from '../core/blame.js';
import type { Cause, DiagnosedFailure } from '../core/cause.js';
import { blameCause } from './blame-cause.js';
import { type Candidate, type CandidatePlace, candidatesOf } from './candidates.js';
import { gitSays } from '../git.js';
import { type History, readHistory } from './history.js';
import { type TrialEffects, Trials } from './trials.js';

/** What blame needs from a run. */
export interface BlameParts extends TrialEffects {
  readonly cwd: string;
  /** The Playwright runs of one search, and the total time for all searches of the run. */
  readonly limits: { readonly runs: number; readonly timeMs: number };
  /** When the run began, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** The base commit named by a person, or null. */
  readonly named: string | null;
  /** Returns the newest commit at which a test was seen green here, or null. */
  readonly lastGreen: (testId: string) => Promise<string | null>;
  /** Whether a file belongs to the tests, by its path from the recorded root. */
  readonly isTest: (file: string) => boolean;
  /** Estimates how long a run of these tests takes; null without measurements. */
  readonly likelyMs: (ids: readonly string[] | null) => number | null;
  /** Reports the result for a cause, or why there is none. A null id stands for all causes; such a reason is reported once. */
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
  let leftMs = parts.limits.timeMs;
  const trials = new Trials(parts);
  const isWrittenTo = writtenSince(parts);
  const toldForAll = new Set<string>();
  const tellForAll = (reason: string) => {
    if (!toldForAll.has(reason)) parts.tell(null, reason);
    toldForAll.add(reason);
  };
  return async (causes) => {
    const startedAt = parts.now();
    const until = startedAt + leftMs;
    const read = reading({ ...parts, isWrittenTo });
    const asked = parts.limits.runs === 0 ? [] : causes.filter(({ environment }) => environment === null);
    const found = new Map<string, Blame>();
    for (const [at, { id, lead }] of asked.entries()) {
      if (parts.signal.aborted) break;
      const since = await read(lead);
      if (typeof since === 'string') {
        tellForAll(since);
        continue;
      }
      const later = asked.slice(at + 1).map((one) => one.lead);
      const answer = await answerFor(parts, { causeId: id, lead, later, since, trials, until });
      if (typeof answer !== 'string') found.set(id, answer);
      parts.tell(id, answer);
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
function writtenSince({ workspace, startedAt }: BlameParts): CandidatePlace['isWrittenTo'] {
  const still = new Set<string>();
  return (file) => {
    const found = lstatSync(path.join(workspace.root, file), { throwIfNoEntry: false });
    if (!found || Math.floor(found.mtimeMs) <= startedAt) still.add(file);
    return !still.has(file);
  };
}

/** A base, and everything that has changed since. */
interface Since {
  readonly history: History;
  readonly candidates: readonly Candidate[];
}

/** Reads the changes, once per base. Files are read again in each round of a run, since fixes change them. */
function reading(
  parts: BlameParts & Pick<CandidatePlace, 'isWrittenTo'>,
): (lead: DiagnosedFailure) => Promise<Since | string> {
  const { root } = parts.workspace;
  const known = new Map<string | null, Promise<Since | string>>();
  const readSince = async (lastGreen: string | null): Promise<Since | string> => {
    // Files edited by fixes of this run did not break the tests.
    const without = parts.workspace.edited();
    const history = await readHistory(root, { named: parts.named, lastGreen, without }).catch(
      (error: unknown) => `git cannot read the changes: ${gitSays(error)}`,
    );
    if (typeof history === 'string') return history;
    return { history, candidates: await candidatesOf(history, { ...parts, root }) };
  };
  return async ({ failure }) => {
    const lastGreen =
      failure.scope === 'test' && parts.named === null ? await parts.lastGreen(failure.test.id) : null;
    const since = known.get(lastGreen) ?? readSince(lastGreen);
    known.set(lastGreen, since);
    return since;
  };
}

interface Asked {
  readonly causeId: string;
  readonly lead: DiagnosedFailure;
  /** Failures that are searched for later. */
  readonly later: readonly DiagnosedFailure[];
  readonly since: Since;
  readonly trials: Trials;
  readonly until: number;
}

async function answerFor(parts: BlameParts, asked: Asked): Promise<Blame | string> {
  const { causeId, lead, later, since, trials, until } = asked;
  const { candidates, history } = since;
  if (candidates.length === 0) return `no change since ${history.base.commit.slice(0, 7)} can be the cause`;
  const why = parts.always ? null : tooLong(parts, { lead, candidates, leftMs: until - parts.now() });
  if (why !== null) return why;
  const limits = { runs: parts.limits.runs, until };
  const beside = lead.failure.scope === 'suite' ? [] : quickOnes(later);
  return blameCause({
    lead,
    candidates,
    base: history.base,
    isWhole: history.isWhole,
    trial: trials.search({ causeId, lead, beside, limits }),
    keep: (out) => trials.keep(out),
    root: parts.workspace.root,
    cwd: parts.cwd,
    now: parts.now,
  });
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

interface Worth {
  readonly lead: DiagnosedFailure;
  readonly candidates: readonly Candidate[];
  readonly leftMs: number;
}

/** Says why if a search is unlikely to finish within its limit, since it would only delay the agent. */
function tooLong({ likelyMs }: BlameParts, { lead, candidates, leftMs }: Worth): string | null {
  const ids = lead.failure.scope === 'suite' ? null : lead.rerunIds;
  const one = likelyMs(ids);
  // A single candidate takes one run; the search among several, one more than its bisection needs.
  const runs = candidates.length === 1 ? 1 : 2 + Math.ceil(Math.log2(candidates.length + 1));
  if (one === null || one * runs <= leftMs) return null;
  return `about ${runs} run${runs === 1 ? '' : 's'} of ${Math.ceil(one / 1000)} s would exceed what is left of blame.time`;
}
