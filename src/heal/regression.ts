import type { RegressionResult } from '../event.js';
import type { Cause, DiagnosedFailure } from '../model/cause.js';
import { isHealed } from '../model/verdict.js';
import { reportsNoTests } from '../playwright/create-suite-run.js';
import { chooseRegression, type RegressionTests, type TestFile } from './choose-regression.js';
import { failureKey, listTests } from '../model/failure.js';
import type { TestState } from '../run/run-state.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import type { Observation } from './judge.js';
import {
  isSuiteRed,
  listKeptAttempts,
  listKeptCauses,
  listKeptChanges,
  collectKeys,
  type Progress,
  type ProofTest,
} from './progress.js';
import { suiteKey } from './observations.js';
import { judgeOtherTests } from './plan-proof.js';
import type { ProofPart, ProofQuestion } from './proof-question.js';
import { listNotRun } from './retest.js';
import { announceTests } from './announce-tests.js';

/**
 * Runs the tests near the kept fixes, or the whole suite if time allows, because green tests must stay green (HN-6). Always includes the tests of the
 * proof, for which this is also the run with their fix reapplied (HN-5), and tests that turned red when run with them.
 */
export class Regression {
  /** The fixes that were reverted because they broke tests. */
  readonly broke: RegressionResult['broke'][number][] = [];
  readonly #progress: Progress;
  readonly #first: SuiteRun;
  /** The states of the tree in which these tests have run. */
  readonly #states = new Set<string>();
  /** Tests that pass although they are marked to fail. The fix stays, and a person must remove the mark. */
  readonly #marked = new Set<string>();
  #size: { readonly tests: number; readonly leftOut: number } | null = null;
  /** The run that repeated red tests. */
  #repeatedRun: SuiteRun | null = null;

  constructor(progress: Progress, first: SuiteRun) {
    this.#progress = progress;
    this.#first = first;
  }

  /** Returns the results of the tests that must stay green; null if they do not run. */
  listOtherTests(
    proven: readonly ProofTest[],
    { hasRefutedFixes }: { readonly hasRefutedFixes: boolean },
  ): ProofQuestion['otherTests'] {
    const progress = this.#progress;
    const { observations, settings } = progress.session;
    const { flips } = settings.verify;
    const isNeeded =
      this.#runsAllTests ||
      this.#suspects.length > 0 ||
      (proven.length > 0 && (flips > 0 || hasRefutedFixes));
    if (!isNeeded) return null;
    return {
      hasRun: this.#states.has(this.#treeState),
      tests: [...this.#listGreenKeys(proven)].map((key) => ({
        key,
        results: observations.listResults(key),
        isMarked: this.#marked.has(key),
      })),
    };
  }

  /** Runs the tests near the fixes, or repeats the tests in `again`. */
  async run(again: readonly string[] | null, proven: readonly ProofTest[]): Promise<void> {
    const progress = this.#progress;
    const isAll = this.#runsAllTests;
    const purpose = isAll ? 'regression' : 'proof';
    if (again) {
      const { run } = await runAndRecord(progress, {
        ids: again,
        keys: new Set(again),
        purpose,
        part: 'others',
      });
      this.#repeatedRun = run;
      const provenIds = this.#listIds(proven);
      for (const id of listMarkedToFail(run)) if (!provenIds.includes(id)) this.#marked.add(id);
      return;
    }
    const kept = listKeptCauses(progress);
    const chosen = isAll ? chooseTests(progress, this.#first, kept) : { files: [], leftOut: [] };
    const ids = [
      ...new Set([...chosen.files.flatMap((file) => file.ids), ...this.#listIds(proven), ...this.#suspects]),
    ];
    const all = ids.length === 0 || (isAll && chosen.leftOut.length === 0);
    const leftOut = chosen.leftOut.flatMap((file) => file.ids).filter((id) => !ids.includes(id)).length;
    if (isAll) this.#size = { tests: ids.length, leftOut };
    this.#states.add(this.#treeState);
    await runAndRecord(progress, { ids, all, keys: this.#listGreenKeys(proven), purpose, part: 'others' });
  }

  /** Marks the current state of the tree as one in which the tests have run, if they ran in any. */
  markStateAsRun(): void {
    if (this.#states.size > 0) this.#states.add(this.#treeState);
  }

  /** Announces the results. Returns failures that no fix caused and no cause contains: the suite's own, and tests marked to fail. */
  async announceEnd(proven: readonly ProofTest[]): Promise<readonly DiagnosedFailure[]> {
    const { session } = this.#progress;
    const { bus } = session;
    const { unsteady, red } = judgeOtherTests({
      kept: listKeptChanges(this.#progress),
      tests: this.listOtherTests(proven, { hasRefutedFixes: true })?.tests ?? [],
    });
    announceUnsteady(this.#progress, unsteady, this.#listIds(proven));
    if (this.#size) bus.emit({ type: 'regression.ended', ...this.#size, broke: this.broke });
    const unexplained = red.filter((key) => key !== suiteKey);
    if (unexplained.length > 0) {
      bus.emit({ type: 'tests.decided', ids: unexplained, verdict: 'failed' });
      const message = `${unexplained.length} of the tests that were green are red now, and no single fix is to blame`;
      bus.emit({ type: 'run.warning', message });
    }
    const isNewFailure =
      red.includes(suiteKey) && proven.every(({ failure }) => failure.failure.scope === 'test');
    const keysToReport = new Set([...this.#marked, ...(isNewFailure ? [suiteKey] : [])]);
    const run = this.#repeatedRun;
    const diagnosed =
      keysToReport.size > 0 && run && run.tests.length > 0 ? await session.diagnostics.diagnose(run) : [];
    return diagnosed.filter(({ failure }) => keysToReport.has(failureKey(failure)));
  }

  /** True if all tests run, as far as time allows, not only the proof's. */
  get #runsAllTests(): boolean {
    const { regression } = this.#progress.session.settings.verify;
    return regression === 'suite' && listKeptCauses(this.#progress).length > 0;
  }

  get #treeState(): string {
    return listKeptChanges(this.#progress).toSorted().join(' ');
  }

  /** The ids of green tests that turned red when run with the tests of a proof. */
  get #suspects(): string[] {
    return listGreenTests(this.#progress).filter((id) => this.#progress.session.observations.wasRed(id));
  }

  #listIds(proven: readonly ProofTest[]): string[] {
    const { allowedAbsences } = this.#progress.session.observations;
    return listTests(proven.map(({ failure }) => failure)).flatMap(({ id }) =>
      allowedAbsences.has(id) ? [] : [id],
    );
  }

  /** The keys of the tests that must be green. */
  #listGreenKeys(proven: readonly ProofTest[]): Set<string> {
    const progress = this.#progress;
    // The suite itself must not fail, unless it has already failed by chance or still does.
    const isSuiteSound = progress.suiteFlakes === 0 && !isSuiteRed(progress);
    return new Set([
      ...this.#listIds(proven),
      ...listGreenTests(progress),
      ...(isSuiteSound ? [suiteKey] : []),
    ]);
  }
}

function listMarkedToFail(run: SuiteRun | null): string[] {
  return (run?.failures ?? []).flatMap(({ test, status }) => (status === 'passed' ? [test.id] : []));
}

function listAllTests({ session }: Progress): TestState[] {
  return [...session.bus.getRun().tests.values()];
}

function listGreenTests(progress: Progress): string[] {
  return listAllTests(progress).flatMap(({ id, verdict }) =>
    (verdict === 'passed' || isHealed(verdict)) && !progress.session.observations.allowedAbsences.has(id)
      ? [id]
      : [],
  );
}

/** Handles tests that were red and green with the same fixes: a healed test still counts as healed, any other is flaky. */
function announceUnsteady(
  progress: Progress,
  unsteady: readonly string[],
  provenIds: readonly string[],
): void {
  const { bus } = progress.session;
  for (const { id, title, verdict } of listAllTests(progress)) {
    if (!unsteady.includes(id)) continue;
    if (!provenIds.includes(id) && verdict !== 'healed') {
      bus.emit({ type: 'tests.decided', ids: [id], verdict: 'flaky' });
      continue;
    }
    const message = `${title.join(' › ')}: red in the regression run, then green with the same fixes, which are kept`;
    bus.emit({ type: 'run.warning', message });
  }
}

interface RedRequest {
  readonly ids: readonly string[];
  /** True to run the whole selection instead of the individual ids. */
  readonly all?: boolean;
  /** The keys of the tests to record. */
  readonly keys: ReadonlySet<string>;
  readonly purpose?: 'regression' | 'proof';
  readonly part: ProofPart;
  /** The changes that were reverted for the run. */
  readonly without?: readonly string[];
}

/**
 * Runs tests and records which are red: all of them if the suite cannot run. Repeats a test that did not run; if it still does not run, nothing is
 * recorded for it. The suite itself may fail although its tests pass, for example in a global teardown; only a run of the whole selection shows that.
 * Returns null for the run if nothing could run.
 */
export async function runAndRecord(
  { session, rerunIds }: Progress,
  { ids, all = false, keys, purpose = 'regression', part, without = [] }: RedRequest,
): Promise<{ readonly run: SuiteRun | null }> {
  const record = (getEnding: (id: string) => Observation['ended'] | null) => {
    const observed = [...keys].flatMap((id): [string, Observation][] => {
      const ended = getEnding(id);
      // The failure itself is not needed.
      return ended === null ? [] : [[id, { ended, failure: null, suiteFailure: null }]];
    });
    if (!session.signal.aborted) session.observations.add(new Map(observed), { part, without });
  };
  if ((await session.suite.prepare()) !== null) {
    record(() => 'failed');
    return { run: null };
  }
  const runsWholeSuite = all || ids.includes(suiteKey);
  const runTests = (testIds: readonly string[]) =>
    session.suite.rerun({
      ids: [...new Set(testIds.flatMap((id) => rerunIds[id] ?? [id]))],
      purpose,
      causeId: null,
    });
  const run = runsWholeSuite
    ? await session.suite.rerun({ ids: null, purpose, causeId: null })
    : await runTests(ids);
  // A person may have chosen to delete all selected tests.
  const isEmpty =
    session.observations.allowedAbsences.size > 0 && run.suiteFailure?.errors.every(reportsNoTests);
  if (run.tests.length === 0) {
    record(() => (isEmpty ? 'passed' : 'failed'));
    return { run };
  }
  const missedIds = listNotRun(run).filter((id) => keys.has(id));
  const again = missedIds.length > 0 && !session.signal.aborted ? await runTests(missedIds) : null;
  const repeated = (again?.tests ?? []).filter(({ test }) => missedIds.includes(test.id));
  const tests = [...run.tests, ...repeated].filter(({ outcome }) => outcome !== 'not-run');
  const isRed = new Map(
    tests.map(({ test, outcome }) => [test.id, outcome !== 'expected' && outcome !== 'flaky']),
  );
  if (runsWholeSuite) isRed.set(suiteKey, run.suiteFailure !== null);
  record((id) => {
    const red = isRed.get(id);
    if (red !== undefined) return red ? 'failed' : 'passed';
    return ids.includes(id) ? 'not-run' : null;
  });
  if (!session.signal.aborted) {
    session.testFiles.observe({ tests });
    announceTests(session, run);
  }
  return { run };
}

/** Chooses among all tests of this self-heal run, because the first Playwright run may not have reached any. */
function chooseTests(progress: Progress, first: SuiteRun, kept: readonly Cause[]): RegressionTests {
  const files = new Map<string, TestFile>();
  const healed = new Set(kept.flatMap((cause) => [...collectKeys(cause)]));
  const tests = listAllTests(progress);
  for (const { id, file, durationMs } of tests) {
    const before = files.get(file) ?? { file, ids: [], durationMs: 0 };
    files.set(file, { file, ids: [...before.ids, id], durationMs: before.durationMs + durationMs });
  }
  const sum = tests.reduce((total, { durationMs }) => total + durationMs, 0);
  return chooseRegression([...files.values()], {
    healed: tests.flatMap(({ id, file }) => (healed.has(id) ? [file] : [])),
    changed: kept
      .flatMap((cause) => listKeptAttempts(progress, cause))
      .flatMap(({ files }) => files.map((file) => file.path)),
    timeMs: progress.session.settings.verify.regressionTimeMs,
    workers: first.tests.length > 0 && first.durationMs > 0 ? sum / first.durationMs : 1,
  });
}
