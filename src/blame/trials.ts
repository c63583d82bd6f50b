import type { Blame } from '../core/blame.js';
import type { DiagnosedFailure } from '../core/cause.js';
import { failureKey } from '../core/failure.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import type { Change, Contents } from '../workspace/change.js';
import type { Workspace } from '../workspace/workspace.js';
import { type Candidate, editsWithout } from './candidates.js';
import type { Outcome } from './minimal-set.js';

/** The effects that a search needs, of a run. */
export interface TrialEffects {
  readonly workspace: Pick<Workspace, 'root' | 'apply' | 'revert' | 'edited'>;
  readonly contents: Contents;
  /** The recorded root, from the project. */
  readonly rootFromProject: string;
  /** `verify.prepare`: null when it succeeded, or is not set. */
  readonly prepare: (signal: AbortSignal) => Promise<string | null>;
  readonly runAgain: (request: {
    readonly ids: readonly string[] | null;
    readonly causeId: string;
    readonly signal: AbortSignal;
  }) => Promise<SuiteRun>;
  /** Keeps a change in the run's folder. */
  readonly keepChange: (change: Change) => Promise<void>;
  readonly warn: (message: string) => void;
  /** Of the whole run: Ctrl-C. */
  readonly signal: AbortSignal;
  readonly now: () => number;
}

/** What searches may spend. */
export interface TrialLimits {
  /** Playwright runs of one search. */
  readonly runs: number;
  /** When all searches are to be over, in milliseconds since the epoch. */
  readonly until: number;
}

/** What one set showed of each test that was run with it. */
type Seen = Map<string, Outcome>;

/**
 * Runs tests with hunks taken out: in the project's own tree, under its journal, so that Ctrl-C and a kill leave it as it was (HN-2). What a run shows
 * of the tests of other causes is kept for their searches.
 */
export class Trials {
  readonly #effects: TrialEffects;
  readonly #seen = new Map<string, Seen>();
  readonly #numbers = new Map<Candidate, number>();
  #changes = 0;

  constructor(effects: TrialEffects) {
    this.#effects = effects;
  }

  /** One search, for the failure that leads a cause; `beside` are failures that are looked for later, and whose tests run along. */
  search(request: {
    readonly causeId: string;
    readonly lead: DiagnosedFailure;
    readonly beside: readonly DiagnosedFailure[];
    readonly limits: TrialLimits;
  }): Trial {
    const { limits, lead } = request;
    const said: { runs: number; unresolved: number; endedBy: Blame['endedBy'] } = {
      runs: 0,
      unresolved: 0,
      endedBy: null,
    };
    const key = failureKey(lead.failure);
    const run = async (out: readonly Candidate[]): Promise<Outcome | null> => {
      const known = this.#of(out).get(key);
      if (known !== undefined) return known;
      const left = limits.until - this.#effects.now();
      said.endedBy = this.#effects.signal.aborted
        ? 'interrupt'
        : left <= 0
          ? 'time'
          : said.runs >= limits.runs
            ? 'runs'
            : null;
      if (said.endedBy !== null) return null;
      said.runs += 1;
      const deadline = AbortSignal.timeout(left);
      const seen = await this.#run(out, {
        ...request,
        signal: AbortSignal.any([this.#effects.signal, deadline]),
      });
      if (seen === null) {
        said.endedBy = this.#effects.signal.aborted ? 'interrupt' : 'time';
        return null;
      }
      if (seen === 'unresolved') said.unresolved += 1;
      return seen;
    };
    return { run, said };
  }

  #of(out: readonly Candidate[]): Seen {
    const numbers = out.map((one) => {
      const number = this.#numbers.get(one) ?? this.#numbers.size;
      this.#numbers.set(one, number);
      return number;
    });
    const name = numbers.toSorted((a, b) => a - b).join();
    const seen = this.#seen.get(name) ?? new Map<string, Outcome>();
    this.#seen.set(name, seen);
    return seen;
  }

  /** Null where the run was broken off. */
  async #run(
    out: readonly Candidate[],
    {
      causeId,
      lead,
      beside,
      signal,
    }: { causeId: string; lead: DiagnosedFailure; beside: readonly DiagnosedFailure[]; signal: AbortSignal },
  ): Promise<Outcome | null> {
    const change = await this.#changeOf(out);
    const applied = change && (await this.#effects.workspace.apply(change));
    if (applied?.kind !== 'applied') return 'unresolved';
    const failures = [lead, ...beside];
    try {
      if ((await this.#effects.prepare(signal)) !== null) return signal.aborted ? null : 'unresolved';
      const run = await this.#effects.runAgain({ ids: idsOf(failures), causeId, signal });
      if (signal.aborted) return null;
      for (const failure of failures) this.#of(out).set(failureKey(failure.failure), outcomeOf(failure, run));
      return outcomeOf(lead, run);
    } finally {
      await this.#revert(applied.change.id);
    }
  }

  /** Keeps the change that takes these out; gives its id, or null where the files changed meanwhile. */
  async keep(out: readonly Candidate[]): Promise<string | null> {
    const change = await this.#changeOf(out);
    if (change) await this.#effects.keepChange(change);
    return change?.id ?? null;
  }

  async #changeOf(out: readonly Candidate[]): Promise<Change | null> {
    const { workspace, contents, rootFromProject } = this.#effects;
    const edits = await editsWithout(out, { root: workspace.root, contents });
    if (edits === null) return null;
    this.#changes += 1;
    // No agent's change has such a number.
    return { id: `9${String(this.#changes).padStart(8, '0')}`, root: rootFromProject, edits, folders: [] };
  }

  async #revert(id: string): Promise<void> {
    const { leftAlone } = await this.#effects.workspace.revert([id]);
    if (leftAlone.length > 0)
      this.#effects.warn(
        `Left as they are, because they changed while the change to blame was looked for: ${leftAlone.join(', ')}`,
      );
  }
}

/** One search under its limits. */
export interface Trial {
  /** Null where a limit is reached. */
  readonly run: (out: readonly Candidate[]) => Promise<Outcome | null>;
  /** What it took so far. */
  readonly said: { readonly runs: number; readonly unresolved: number; readonly endedBy: Blame['endedBy'] };
}

/** The suite's own failure shows in a run of anything. */
function idsOf(failures: readonly DiagnosedFailure[]): readonly string[] | null {
  if (failures.some(({ failure }) => failure.scope === 'suite')) return null;
  return [...new Set(failures.flatMap(({ rerunIds }) => rerunIds))];
}

function outcomeOf({ failure }: DiagnosedFailure, run: SuiteRun): Outcome {
  if (failure.scope === 'suite') return run.suiteFailure === null && run.tests.length > 0 ? 'green' : 'red';
  const result = run.tests.find(({ test }) => test.id === failure.test.id);
  if (result?.outcome === 'expected' || result?.outcome === 'flaky') return 'green';
  return result?.outcome === 'unexpected' ? 'red' : 'unresolved';
}
