import type { Blame } from '../core/blame.js';
import type { DiagnosedFailure } from '../core/cause.js';
import { failureKey } from '../core/failure.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import type { Change, Contents } from '../workspace/change.js';
import type { Workspace } from '../workspace/workspace.js';
import { type Candidate, editsWithout } from './candidates.js';
import type { Outcome } from './minimal-set.js';

/** The effects that a search needs from a run. */
export interface TrialEffects {
  readonly workspace: Pick<Workspace, 'root' | 'apply' | 'revert' | 'edited'>;
  readonly contents: Contents;
  /** Runs `verify.prepare`; returns null if it succeeded or is not set. */
  readonly prepare: (signal: AbortSignal) => Promise<string | null>;
  readonly runAgain: (request: {
    readonly ids: readonly string[] | null;
    readonly causeId: string;
    readonly signal: AbortSignal;
  }) => Promise<SuiteRun>;
  /** Returns the signature of a run's own failure, without tests; null if it has none. */
  readonly signed: (run: SuiteRun) => Promise<string | null>;
  readonly keepChange: (change: Change) => Promise<void>;
  readonly warn: (message: string) => void;
  /** Aborts when the whole run is interrupted (Ctrl-C). */
  readonly signal: AbortSignal;
  readonly now: () => number;
}

interface TrialRequest {
  readonly causeId: string;
  /** The leading failure of the cause. */
  readonly lead: DiagnosedFailure;
  /** Failures that are searched for later, whose tests run along. */
  readonly beside: readonly DiagnosedFailure[];
  /** When the search must be over, in milliseconds since the epoch. */
  readonly until: number;
}

/** The outcome of each test that was run with one set. */
type Seen = Map<string, Outcome>;

/**
 * Runs tests with hunks taken out: in the project's own tree, under its journal, so that Ctrl-C and a kill leave it as it was (HN-2). Results
 * for tests of other causes are kept for their searches.
 */
export class Trials {
  readonly #effects: TrialEffects;
  readonly #seen = new Map<string, Seen>();
  readonly #numbers = new Map<Candidate, number>();
  #changes = 0;

  constructor(effects: TrialEffects) {
    this.#effects = effects;
  }

  search(request: TrialRequest): Trial {
    const { lead, until } = request;
    const said: { -readonly [K in keyof SearchStats]: SearchStats[K] } = {
      runs: 0,
      unresolved: 0,
      wasRed: false,
      endedBy: null,
    };
    const key = failureKey(lead.failure);
    const runOrEnd = async (out: readonly Candidate[]): Promise<Outcome | null> => {
      const left = until - this.#effects.now();
      said.endedBy = this.#effects.signal.aborted ? 'interrupt' : left <= 0 ? 'time' : null;
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
    const run = async (out: readonly Candidate[]): Promise<Outcome | null> => {
      const outcome = this.#outcomesFor(out).get(key) ?? (await runOrEnd(out));
      if (outcome === 'red') said.wasRed = true;
      return outcome;
    };
    return { run, said };
  }

  #outcomesFor(out: readonly Candidate[]): Seen {
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

  /** Returns null if the run was aborted. */
  async #run(
    out: readonly Candidate[],
    { causeId, lead, beside, signal }: TrialRequest & { readonly signal: AbortSignal },
  ): Promise<Outcome | null> {
    const change = await this.#changeOf(out);
    const failures = [lead, ...beside];
    const seen =
      change &&
      (await withChange(this.#effects, change, async () => {
        if ((await this.#effects.prepare(signal)) !== null) return signal.aborted ? null : 'unresolved';
        const run = await this.#effects.runAgain({ ids: idsOf(failures), causeId, signal });
        if (signal.aborted) return null;
        for (const failure of failures)
          this.#outcomesFor(out).set(failureKey(failure.failure), await this.#outcomeOf(failure, run));
        return this.#outcomesFor(out).get(failureKey(lead.failure)) ?? 'unresolved';
      }));
    return seen ? seen.value : 'unresolved';
  }

  /** A suite that fails for another reason, such as an incomplete build, shows nothing. */
  async #outcomeOf(failed: DiagnosedFailure, run: SuiteRun): Promise<Outcome> {
    if (failed.failure.scope === 'test') return outcomeOf(failed.failure.test.id, run);
    if (run.suiteFailure === null) return run.tests.length > 0 ? 'green' : 'unresolved';
    return (await this.#effects.signed(run)) === failed.signature ? 'red' : 'unresolved';
  }

  /** Stores the change that takes these candidates out, and returns its id; null if files changed meanwhile. */
  async keep(out: readonly Candidate[]): Promise<string | null> {
    const change = await this.#changeOf(out);
    if (change) await this.#effects.keepChange(change);
    return change?.id ?? null;
  }

  async #changeOf(out: readonly Candidate[]): Promise<Change | null> {
    const { workspace, contents } = this.#effects;
    const edits = await editsWithout(out, { root: workspace.root, contents });
    if (edits === null) return null;
    this.#changes += 1;
    // Agents' changes never have such ids.
    return { id: `9${String(this.#changes).padStart(8, '0')}`, edits, folders: [] };
  }
}

/**
 * Does work while a change is in the project's own tree, under its journal, so that Ctrl-C and a kill leave the tree as it was (HN-2). Returns null
 * if the change could not be applied.
 */
export async function withChange<T>(
  { workspace, contents, warn }: Pick<TrialEffects, 'workspace' | 'contents' | 'warn'>,
  change: Change,
  work: () => Promise<T>,
): Promise<{ readonly value: T } | null> {
  const applied = await workspace.apply(change);
  if (applied.kind !== 'applied') return null;
  try {
    return { value: await work() };
  } finally {
    const { id, edits } = applied.change;
    const { leftAlone } = await workspace.revert([id]);
    for (const { path: file, before } of edits.filter((edit) => leftAlone.includes(edit.path))) {
      const held = before ? `; what it held before is in ${contents.fileOf(before.hash)}` : '';
      warn(`Not restored, because it was changed while it was taken out: ${file}${held}`);
    }
  }
}

export interface Trial {
  /** Returns null when a limit is reached. */
  readonly run: (out: readonly Candidate[]) => Promise<Outcome | null>;
  readonly said: SearchStats;
}

/** What a search has cost and seen so far. */
interface SearchStats {
  readonly runs: number;
  readonly unresolved: number;
  /** Whether the test ran and failed, even in a run for another cause. */
  readonly wasRed: boolean;
  readonly endedBy: Blame['endedBy'];
}

/** A failure of the suite itself shows in any run, so no ids are needed. */
function idsOf(failures: readonly DiagnosedFailure[]): readonly string[] | null {
  if (failures.some(({ failure }) => failure.scope === 'suite')) return null;
  return [...new Set(failures.flatMap(({ rerunIds }) => rerunIds))];
}

function outcomeOf(testId: string, run: SuiteRun): Outcome {
  const result = run.tests.find(({ test }) => test.id === testId);
  if (result?.outcome === 'expected' || result?.outcome === 'flaky') return 'green';
  return result?.outcome === 'unexpected' ? 'red' : 'unresolved';
}
