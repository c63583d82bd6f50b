import { existsSync } from 'node:fs';
import type { DiagnosedFailure } from '../model/cause.js';
import { failureKey } from '../model/failure.js';
import { isGreen, type Observation } from './judge.js';
import type { ProofStep } from '../model/proof.js';
import type { SuiteRun, TestResult } from '../playwright/suite-run.js';
import type { ProofPart, Sighting } from './proof-question.js';
import type { Workspace } from '../workspace/workspace.js';

/** The key of the suite's own failure among the ids of tests. */
export const suiteKey = failureKey({ scope: 'suite', errors: [], stderr: '' });

/** What one Playwright run showed of one test, or of the suite itself. */
interface Row extends Observation, Circumstances {
  /** The number of the Playwright run among those recorded, counted from 1. */
  readonly run: number;
}

/** How a Playwright run was made. */
interface Circumstances {
  /** The changes of this self-heal run that were in the tree. */
  readonly fixes: readonly string[];
  readonly part: ProofPart;
  /** The changes that were taken out for the run. */
  readonly without: readonly string[];
  readonly isClean: boolean;
  /** Why a run could show nothing. */
  readonly because?: string;
}

type OfFailure = Pick<DiagnosedFailure, 'failure'>;

/**
 * What the Playwright runs of a self-heal run have shown of each test, and with which changes in the project. This table answers whether a failure
 * is confirmed, whose fix healed it, what still has to be run, and what a heal rests on.
 */
export class Observations {
  readonly #rows = new Map<string, Row[]>();
  readonly #workspace: Pick<Workspace, 'listApplied'>;
  readonly #gone = new Set<string>();
  #runs = 0;

  constructor(workspace: Pick<Workspace, 'listApplied'>) {
    this.#workspace = workspace;
  }

  /** Allows these tests to be absent: a person has chosen to take them out. */
  mayBeGone(failures: readonly OfFailure[]): void {
    for (const { failure } of failures) this.#gone.add(failureKey(failure));
  }

  /** The keys of the tests that may be gone. */
  get gone(): ReadonlySet<string> {
    return this.#gone;
  }

  /** Records, by key, what one Playwright run has shown of the project as it is now, unless the circumstances say otherwise. */
  add(observed: ReadonlyMap<string, Observation>, how: Partial<Circumstances> = {}): void {
    this.#runs += 1;
    const at = {
      fixes: this.#workspace.listApplied(),
      part: 'trial',
      without: [],
      isClean: false,
      ...how,
      run: this.#runs,
    } as const;
    for (const [key, observation] of observed)
      this.#rows.set(key, [...(this.#rows.get(key) ?? []), { ...observation, ...at }]);
  }

  /** Returns what all runs have shown of the test with this key, for a proof. */
  sightings(key: string): Sighting[] {
    return (this.#rows.get(key) ?? []).map((row) => {
      const { run, part, fixes: changes, without, isClean, because } = row;
      const shown = isUndecided(row) ? 'nothing' : isGreen(row) ? 'green' : 'red';
      return { run, part, changes, without, isClean, shown, ...(because === undefined ? {} : { because }) };
    });
  }

  /** Whether a test was red the last time that it ran with the changes that are in the project now. */
  isRed(of: OfFailure): boolean {
    const last = this.#of(of).findLast((row) => this.#isNow(row));
    return last !== undefined && !isGreen(last);
  }

  /** Whether a test was green the last time that it ran with the changes that are in the project now. */
  isGreen(of: OfFailure): boolean {
    const last = this.#of(of).findLast((row) => this.#isNow(row));
    return last !== undefined && isGreen(last);
  }

  /** Whether the test with this id was red the last time that it ran. */
  wasRed(id: string): boolean {
    const last = this.#decided(id).at(-1);
    return last !== undefined && !isGreen(last);
  }

  /** How often in a row a test has failed this way; 0 unless the last time was with the changes that are in the project now. */
  timesRed(failure: DiagnosedFailure): number {
    const isOfSuite = failure.failure.scope === 'suite';
    // In a run whose suite did not start, no test was seen.
    const rows = this.#of(failure).filter(({ suiteFailure }) => isOfSuite || suiteFailure === null);
    const last = rows.at(-1);
    if (!last || !this.#isNow(last)) return 0;
    return rows.length - 1 - rows.findLastIndex((row) => failureIn(row)?.signature !== failure.signature);
  }

  /** The changes that were in the project when a test first failed this way, of runs that had no other changes than `kept`. */
  firstRedWith(failure: DiagnosedFailure, kept: ReadonlySet<string>): readonly string[] {
    const first = this.#of(failure).find(
      (row) => failureIn(row)?.signature === failure.signature && row.fixes.every((id) => kept.has(id)),
    );
    return first?.fixes ?? [];
  }

  /** The failure that the newest run of a test showed; null if it was green. */
  latestFailure(of: OfFailure): DiagnosedFailure | null {
    const last = this.#of(of).at(-1);
    return last ? failureIn(last) : null;
  }

  /** The number of the newest run of a test, or of the run that follows if it is yet to be run. */
  latestRun(of: OfFailure): number {
    return this.#of(of).at(-1)?.run ?? this.nextRun();
  }

  nextRun(): number {
    return this.#runs + 1;
  }

  /**
   * What the runs of a test showed before its fix, and from run `since` on, which is the first with it. The runs before begin with the first red one
   * that had the changes of `base`; runs with a change that was reverted later are left out, since they were of other code.
   */
  steps(of: OfFailure, { since, base }: { readonly since: number; readonly base: readonly string[] }) {
    const rows = this.#of(of);
    const after = rows.filter(({ run }) => run >= since);
    const kept = new Set(after[0]?.fixes);
    const before = rows.filter(
      ({ run, fixes }) =>
        run < since && fixes.every((id) => kept.has(id)) && base.every((id) => fixes.includes(id)),
    );
    const firstRed = before.findIndex((row) => !isGreen(row));
    const steps = (all: readonly Row[]) => all.map((row): ProofStep => (isGreen(row) ? 'green' : 'red'));
    return { before: firstRed === -1 ? [] : steps(before.slice(firstRed)), after: steps(after) };
  }

  /** What the runs of a test showed before a change, and with it. */
  stepsWith(of: OfFailure, change: string) {
    const since = this.#of(of).find(({ fixes }) => fixes.includes(change))?.run ?? this.nextRun();
    return this.steps(of, { since, base: [] });
  }

  #of({ failure }: OfFailure): readonly Row[] {
    return this.#decided(failureKey(failure));
  }

  /** The runs that show something of a test. */
  #decided(key: string): readonly Row[] {
    return (this.#rows.get(key) ?? []).filter((row) => !isUndecided(row));
  }

  #isNow({ fixes }: Row): boolean {
    const now = new Set(this.#workspace.listApplied());
    return fixes.length === now.size && fixes.every((id) => now.has(id));
  }
}

function failureIn(observation: Observation): DiagnosedFailure | null {
  return observation.failure ?? observation.suiteFailure;
}

/** What a Playwright run showed, with the failures that were found in it. */
export interface DiagnosedRun {
  readonly run: SuiteRun;
  readonly failures: readonly DiagnosedFailure[];
  /** The keys of tests that may be absent, as if they had passed. */
  readonly gone?: ReadonlySet<string>;
}

/**
 * Returns what a run showed of each test that passed or failed, of the suite itself if that failed, and of each failure that it was made for, even
 * if its test was skipped, is absent or did not run.
 */
export function observationsIn(
  diagnosedRun: DiagnosedRun,
  failures: readonly DiagnosedFailure[],
): Map<string, Observation> {
  const { tests } = diagnosedRun.run;
  const ran = tests.filter(({ outcome }) => outcome !== 'skipped' && outcome !== 'not-run');
  const ofTests = ran.map((result): [string, Observation] => [
    result.test.id,
    ofTest(diagnosedRun, result.test.id, result),
  ]);
  const suiteFailure = suiteFailureIn(diagnosedRun);
  const ofSuite: [string, Observation][] = suiteFailure
    ? [[suiteKey, { ended: 'failed', failure: null, suiteFailure }]]
    : [];
  const asked = failures.map((failure): [string, Observation] => [
    failureKey(failure.failure),
    observation(diagnosedRun, failure),
  ]);
  return new Map([...ofTests, ...ofSuite, ...asked]);
}

/** Whether a test did not run although the suite did, which says nothing about it. */
export function isUndecided({ ended, suiteFailure }: Observation): boolean {
  return ended === 'not-run' && suiteFailure === null;
}

export function suiteFailureIn({ failures }: Pick<DiagnosedRun, 'failures'>): DiagnosedFailure | null {
  return failures.find(({ failure }) => failure.scope === 'suite') ?? null;
}

/** Returns what a run showed of one failure. */
export function observation(diagnosedRun: DiagnosedRun, diagnosed: DiagnosedFailure): Observation {
  const { run } = diagnosedRun;
  const { failure } = diagnosed;
  if (failure.scope === 'suite')
    return { ended: suiteEnding(diagnosed, run), failure: null, suiteFailure: suiteFailureIn(diagnosedRun) };
  const { id } = failure.test;
  return ofTest(
    diagnosedRun,
    id,
    run.tests.find(({ test }) => test.id === id),
  );
}

function ofTest({ failures, gone }: DiagnosedRun, id: string, result: TestResult | undefined): Observation {
  if (!result && gone?.has(id)) return { ended: 'passed', failure: null, suiteFailure: null };
  return {
    ended: result ? ends[result.outcome] : 'absent',
    failure: failures.find((failure) => failureKey(failure.failure) === id) ?? null,
    // Tests that ran despite the suite's own failure (such as a throwing global teardown) have a result of their own.
    suiteFailure: result ? null : suiteFailureIn({ failures }),
  };
}

/** Deleting the broken file does not heal the suite (HL-10). */
function suiteEnding({ evidence }: DiagnosedFailure, run: SuiteRun): Observation['ended'] {
  const files = evidence.errors.flatMap((error) => (error.location ? [error.location.file] : []));
  if (files.some((file) => !existsSync(file))) return 'absent';
  return run.tests.length > 0 ? 'passed' : 'not-run';
}

const ends: Record<TestResult['outcome'], Observation['ended']> = {
  expected: 'passed',
  flaky: 'passed',
  unexpected: 'failed',
  skipped: 'skipped',
  'not-run': 'not-run',
};
