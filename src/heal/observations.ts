import { existsSync } from 'node:fs';
import type { DiagnosedFailure } from '../model/cause.js';
import { failureKey } from '../model/failure.js';
import { isGreen, type Observation } from './judge.js';
import type { ProofStep } from '../model/proof.js';
import type { SuiteRun, TestResult } from '../playwright/suite-run.js';
import type { ProofPart, TestRunResult } from './proof-question.js';
import type { Workspace } from '../workspace/workspace.js';

/** The key of the suite's own failure among test ids. */
export const suiteKey = failureKey({ scope: 'suite', errors: [], stderr: '' });

/** The result of one Playwright run for one test, or for the suite itself. */
interface Row extends Observation, Circumstances {
  /** The number of the recorded Playwright run, counted from 1. */
  readonly run: number;
}

/** In which state a Playwright run was made, and for which part of the proof. */
interface Circumstances {
  /** The changes of this self-heal run that were in the tree. */
  readonly fixes: readonly string[];
  readonly part: ProofPart;
  /** The changes that were reverted for the run. */
  readonly without: readonly string[];
  readonly isClean: boolean;
  /** The reason why a run showed nothing. */
  readonly because?: string;
}

type HasFailure = Pick<DiagnosedFailure, 'failure'>;

/**
 * The results of every Playwright run for each test, with the changes that were in the project. This table shows whether a failure is confirmed, whose
 * fix healed it, which runs are still needed, and what proves a heal.
 */
export class Observations {
  readonly #rows = new Map<string, Row[]>();
  readonly #workspace: Pick<Workspace, 'listApplied'>;
  readonly #allowedAbsences = new Set<string>();
  #runs = 0;

  constructor(workspace: Pick<Workspace, 'listApplied'>) {
    this.#workspace = workspace;
  }

  /** Allows these tests to be absent, because a person chose to delete them. */
  allowAbsence(failures: readonly HasFailure[]): void {
    for (const { failure } of failures) this.#allowedAbsences.add(failureKey(failure));
  }

  /** The keys of the tests that may be absent. */
  get allowedAbsences(): ReadonlySet<string> {
    return this.#allowedAbsences;
  }

  /** Records the results of one Playwright run by key. Unless `circumstances` say otherwise, the run was in the project as it is now. */
  add(observed: ReadonlyMap<string, Observation>, circumstances: Partial<Circumstances> = {}): void {
    this.#runs += 1;
    const at = {
      fixes: this.#workspace.listApplied(),
      part: 'trial',
      without: [],
      isClean: false,
      ...circumstances,
      run: this.#runs,
    } as const;
    for (const [key, observation] of observed)
      this.#rows.set(key, [...(this.#rows.get(key) ?? []), { ...observation, ...at }]);
  }

  /** Returns the results of all runs for the test with this key, for a proof. */
  listResults(key: string): TestRunResult[] {
    return (this.#rows.get(key) ?? []).map((row) => {
      const { run, part, fixes: changes, without, isClean, because } = row;
      const shown = isUndecided(row) ? 'nothing' : isGreen(row) ? 'green' : 'red';
      return { run, part, changes, without, isClean, shown, ...(because === undefined ? {} : { because }) };
    });
  }

  /** True if a test was red in its last run with the changes that are in the project now. */
  isRed(failed: HasFailure): boolean {
    const last = this.#listRows(failed).findLast((row) => this.#hasCurrentChanges(row));
    return last !== undefined && !isGreen(last);
  }

  /** True if a test was green in its last run with the changes that are in the project now. */
  isGreen(failed: HasFailure): boolean {
    const last = this.#listRows(failed).findLast((row) => this.#hasCurrentChanges(row));
    return last !== undefined && isGreen(last);
  }

  /** True if a test has run with all of these changes. */
  hasRunWith(failed: HasFailure, changes: readonly string[]): boolean {
    return this.#listRows(failed).some(({ fixes }) => changes.every((id) => fixes.includes(id)));
  }

  /** True if the test with this id was red in its last run. */
  wasRed(id: string): boolean {
    const last = this.#listDecided(id).at(-1);
    return last !== undefined && !isGreen(last);
  }

  /** Returns in how many runs a test was green, if it was red in each run before them and in none since; otherwise null. */
  countGreenRunsAfterRed(failed: HasFailure): number | null {
    const greens = this.#listRows(failed).map(isGreen);
    const first = greens.indexOf(true);
    return first > 0 && greens.slice(first).every(Boolean) ? greens.length - first : null;
  }

  /** Returns how often in a row a test has failed this way; 0 unless its last run had the changes that are in the project now. */
  countRedRuns(failure: DiagnosedFailure): number {
    const isSuite = failure.failure.scope === 'suite';
    // A run whose suite did not start shows nothing about its tests.
    const rows = this.#listRows(failure).filter(({ suiteFailure }) => isSuite || suiteFailure === null);
    const last = rows.at(-1);
    if (!last || !this.#hasCurrentChanges(last)) return 0;
    return rows.length - 1 - rows.findLastIndex((row) => findFailure(row)?.signature !== failure.signature);
  }

  /** Returns the changes in the project when a test first failed this way, considering only runs with no changes other than `kept`. */
  findFirstRedChanges(failure: DiagnosedFailure, kept: ReadonlySet<string>): readonly string[] {
    const first = this.#listRows(failure).find(
      (row) => findFailure(row)?.signature === failure.signature && row.fixes.every((id) => kept.has(id)),
    );
    return first?.fixes ?? [];
  }

  /** Returns a test's failure in its newest run; null if that was green. */
  findLatestFailure(failed: HasFailure): DiagnosedFailure | null {
    const last = this.#listRows(failed).at(-1);
    return last ? findFailure(last) : null;
  }

  /** Returns the number of the newest run of a test; if it has not run yet, the number of the next run. */
  getLatestRun(failed: HasFailure): number {
    return this.#listRows(failed).at(-1)?.run ?? this.getNextRun();
  }

  getNextRun(): number {
    return this.#runs + 1;
  }

  /**
   * Returns the results of a test before its fix, and from run `since` on, the first with the fix. The results before begin with the first red run that
   * had the changes of `revealedBy`, and omit runs with a change that was reverted later.
   */
  listSteps(
    failed: HasFailure,
    { since, revealedBy }: { readonly since: number; readonly revealedBy: readonly string[] },
  ) {
    const rows = this.#listRows(failed);
    const after = rows.filter(({ run }) => run >= since);
    const kept = new Set(after[0]?.fixes);
    const before = rows.filter(
      ({ run, fixes }) =>
        run < since && fixes.every((id) => kept.has(id)) && revealedBy.every((id) => fixes.includes(id)),
    );
    const firstRed = before.findIndex((row) => !isGreen(row));
    const toSteps = (all: readonly Row[]) => all.map((row): ProofStep => (isGreen(row) ? 'green' : 'red'));
    return { before: firstRed === -1 ? [] : toSteps(before.slice(firstRed)), after: toSteps(after) };
  }

  /** Returns the results of a test before a change and with it. */
  listStepsWith(failed: HasFailure, change: string) {
    const since =
      this.#listRows(failed).find(({ fixes }) => fixes.includes(change))?.run ?? this.getNextRun();
    return this.listSteps(failed, { since, revealedBy: [] });
  }

  #listRows({ failure }: HasFailure): readonly Row[] {
    return this.#listDecided(failureKey(failure));
  }

  /** Returns the results of a test, without runs in which it did not run. */
  #listDecided(key: string): readonly Row[] {
    return (this.#rows.get(key) ?? []).filter((row) => !isUndecided(row));
  }

  #hasCurrentChanges({ fixes }: Row): boolean {
    const now = new Set(this.#workspace.listApplied());
    return fixes.length === now.size && fixes.every((id) => now.has(id));
  }
}

function findFailure(observation: Observation): DiagnosedFailure | null {
  return observation.failure ?? observation.suiteFailure;
}

/** A Playwright run, and its diagnosed failures. */
export interface DiagnosedRun {
  readonly run: SuiteRun;
  readonly failures: readonly DiagnosedFailure[];
  /** The keys of tests that may be absent, as if they had passed. */
  readonly allowedAbsences?: ReadonlySet<string>;
}

/**
 * Returns the results of a run by key: of each test that passed or failed, of the suite itself if it failed, and of each of `failures`, even if its
 * test was skipped, is absent or did not run.
 */
export function observeRun(
  diagnosedRun: DiagnosedRun,
  failures: readonly DiagnosedFailure[],
): Map<string, Observation> {
  const { tests } = diagnosedRun.run;
  const ran = tests.filter(({ outcome }) => outcome !== 'skipped' && outcome !== 'not-run');
  const testResults = ran.map((result): [string, Observation] => [
    result.test.id,
    observeTest(diagnosedRun, result.test.id, result),
  ]);
  const suiteFailure = findSuiteFailure(diagnosedRun);
  const suiteResults: [string, Observation][] = suiteFailure
    ? [[suiteKey, { ended: 'failed', failure: null, suiteFailure }]]
    : [];
  const requestedResults = failures.map((failure): [string, Observation] => [
    failureKey(failure.failure),
    observeFailure(diagnosedRun, failure),
  ]);
  return new Map([...testResults, ...suiteResults, ...requestedResults]);
}

/** True if a test did not run although the suite did. Such a run shows nothing about the test. */
export function isUndecided({ ended, suiteFailure }: Observation): boolean {
  return ended === 'not-run' && suiteFailure === null;
}

export function findSuiteFailure({ failures }: Pick<DiagnosedRun, 'failures'>): DiagnosedFailure | null {
  return failures.find(({ failure }) => failure.scope === 'suite') ?? null;
}

/** Returns the result of a run for one failure. */
export function observeFailure(diagnosedRun: DiagnosedRun, diagnosed: DiagnosedFailure): Observation {
  const { run } = diagnosedRun;
  const { failure } = diagnosed;
  if (failure.scope === 'suite')
    return {
      ended: findSuiteEnding(diagnosed, run),
      failure: null,
      suiteFailure: findSuiteFailure(diagnosedRun),
    };
  const { id } = failure.test;
  return observeTest(
    diagnosedRun,
    id,
    run.tests.find(({ test }) => test.id === id),
  );
}

function observeTest(
  { failures, allowedAbsences }: DiagnosedRun,
  id: string,
  result: TestResult | undefined,
): Observation {
  if (!result && allowedAbsences?.has(id)) return { ended: 'passed', failure: null, suiteFailure: null };
  return {
    ended: result ? endings[result.outcome] : 'absent',
    failure: failures.find((failure) => failureKey(failure.failure) === id) ?? null,
    // A test that ran despite the suite's own failure, such as a throwing global teardown, has its own result.
    suiteFailure: result ? null : findSuiteFailure({ failures }),
  };
}

/** Returns how the suite ended. If the broken file was deleted, the suite is not healed (HL-10). */
function findSuiteEnding({ evidence }: DiagnosedFailure, run: SuiteRun): Observation['ended'] {
  const files = evidence.errors.flatMap((error) => (error.location ? [error.location.file] : []));
  if (files.some((file) => !existsSync(file))) return 'absent';
  return run.tests.length > 0 ? 'passed' : 'not-run';
}

const endings: Record<TestResult['outcome'], Observation['ended']> = {
  expected: 'passed',
  flaky: 'passed',
  unexpected: 'failed',
  skipped: 'skipped',
  'not-run': 'not-run',
};
