import type { Cause, DiagnosedFailure } from '../model/cause.js';
import { isHealed } from '../model/verdict.js';
import { chooseRegression, type RegressionTests, type TestFile } from './choose-regression.js';
import { failureKey, listTests } from '../model/failure.js';
import type { TestState } from '../run/run-state.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { isSuiteRed, keptAttempts, keptCauses, keysOf, type Progress, type ProofTest } from './progress.js';
import { suiteKey } from './observations.js';
import { redAmong, revertFixesThatBroke } from './revert-fixes.js';

/** The result of the regression run. */
interface RegressionOutcome {
  /** Tests that are red although no fix is to blame. */
  readonly red: ReadonlySet<string>;
  /** Whether fixes were reverted because they broke tests that had been green. */
  readonly broke: boolean;
  /**
   * Failures that are no fix's fault and that no cause has: the suite's own, and tests that pass although they are marked to fail. What such a test
   * describes works now, so a person has to remove its mark, and the fix stays.
   */
  readonly failures: readonly DiagnosedFailure[];
}

/**
 * Re-runs the tests around the kept fixes, or the whole suite if time allows: what was green has to stay green. A fix that breaks a test
 * is identified by reverting it, which is repeated as a proof is, and stays reverted (HN-6). For the tests that are being proven, this is also the run with their fix
 * reapplied (HN-5), so they are always included, as are tests that were green and then red beside them.
 */
export async function runRegression(
  progress: Progress,
  first: SuiteRun,
  proven: readonly ProofTest[],
): Promise<RegressionOutcome> {
  const { session } = progress;
  const nothing: RegressionOutcome = { red: new Set(), broke: false, failures: [] };
  const { regression, flips } = session.settings.verify;
  const kept = keptCauses(progress);
  const isAll = regression === 'suite' && kept.length > 0;
  const suspects = greenTests(progress).filter((id) => session.observations.wasRed(id));
  const needed = isAll || suspects.length > 0 || (flips > 0 && proven.length > 0);
  if (session.signal.aborted || !needed) return nothing;
  const chosen = isAll ? choose(progress, first, kept) : { files: [], leftOut: [] };
  const { gone } = session.observations;
  const own = listTests(proven.map(({ failure }) => failure)).flatMap(({ id }) => (gone.has(id) ? [] : [id]));
  const ids = [...new Set([...chosen.files.flatMap((file) => file.ids), ...own, ...suspects])];
  const green = new Set([...own, ...greenTests(progress), ...(isSuiteSound(progress) ? [suiteKey] : [])]);
  const all = ids.length === 0 || (isAll && chosen.leftOut.length === 0);
  const purpose = isAll ? 'regression' : 'proof';
  const { red: once } = await redAmong(progress, { ids, all, of: green, purpose });
  const again = once.size > 0 ? await redAmong(progress, { ids: [...once], of: once, purpose }) : null;
  const twice = again?.red ?? once;
  if (session.signal.aborted) return nothing;
  const marked = markedToFail(again?.run ?? null).filter((id) => !own.includes(id));
  const broken = new Set([...twice].filter((id) => !marked.includes(id)));
  const { broke, unsteady, ...reverts } = await revertFixesThatBroke(progress, kept, broken);
  if (session.signal.aborted) return nothing;
  // Whether the suite itself or a test that is being proven is flaky is decided elsewhere.
  const flaky = new Set([...unsteady].filter((id) => id !== suiteKey && !own.includes(id)));
  const stillRed = new Set([...reverts.red].filter((id) => !flaky.has(id)));
  sayUnsteady(progress, { own, once, twice: new Set([...twice].filter((id) => !flaky.has(id))) });
  const leftOut = chosen.leftOut.flatMap((file) => file.ids).filter((id) => !ids.includes(id)).length;
  if (isAll) session.bus.emit({ type: 'regression.ended', tests: ids.length, leftOut, broke });
  const isNews = stillRed.has(suiteKey) && proven.every(({ failure }) => failure.failure.scope === 'test');
  const news = new Set([...marked, ...(isNews ? [suiteKey] : [])]);
  const diagnosed = news.size > 0 && again?.run?.tests.length ? await session.diagnose(again.run) : [];
  const failures = diagnosed.filter(({ failure }) => news.has(failureKey(failure)));
  return { red: stillRed, broke: broke.length > 0, failures };
}

function markedToFail(run: SuiteRun | null): string[] {
  return (run?.failures ?? []).flatMap(({ test, status }) => (status === 'passed' ? [test.id] : []));
}

/** Whether the suite itself has not failed so far, or only without a fix that is now in the tree. */
function isSuiteSound(progress: Progress): boolean {
  return progress.suiteFlakes === 0 && !isSuiteRed(progress);
}

function allTests({ session }: Progress): TestState[] {
  return [...session.bus.run().tests.values()];
}

function greenTests(progress: Progress): string[] {
  return allTests(progress).flatMap(({ id, verdict }) =>
    (verdict === 'passed' || isHealed(verdict)) && !progress.session.observations.gone.has(id) ? [id] : [],
  );
}

interface Unsteady {
  own: readonly string[];
  once: ReadonlySet<string>;
  twice: ReadonlySet<string>;
}

/** Handles tests that were red and green with the same fixes: a healed test still counts as healed, any other is flaky. */
function sayUnsteady(progress: Progress, { own, once, twice }: Unsteady): void {
  const { bus } = progress.session;
  for (const { id, title, verdict } of allTests(progress)) {
    if (!once.has(id) || twice.has(id)) continue;
    if (!own.includes(id) && verdict !== 'healed') {
      bus.emit({ type: 'tests.decided', ids: [id], verdict: 'flaky' });
      continue;
    }
    const message = `${title.join(' › ')}: red in the regression run, then green with the same fixes, which are kept`;
    bus.emit({ type: 'run.warning', message });
  }
}

/** The tests of the whole run: the first run may not have reached any. */
function choose(progress: Progress, first: SuiteRun, kept: readonly Cause[]): RegressionTests {
  const files = new Map<string, TestFile>();
  const healed = new Set(kept.flatMap((cause) => [...keysOf(cause)]));
  const tests = allTests(progress);
  for (const { id, file, durationMs } of tests) {
    const before = files.get(file) ?? { file, ids: [], durationMs: 0 };
    files.set(file, { file, ids: [...before.ids, id], durationMs: before.durationMs + durationMs });
  }
  const sum = tests.reduce((total, { durationMs }) => total + durationMs, 0);
  return chooseRegression([...files.values()], {
    healed: tests.flatMap(({ id, file }) => (healed.has(id) ? [file] : [])),
    changed: kept
      .flatMap((cause) => keptAttempts(progress, cause))
      .flatMap(({ files }) => files.map((file) => file.path)),
    timeMs: progress.session.settings.verify.regressionTimeMs,
    workers: first.tests.length > 0 && first.durationMs > 0 ? sum / first.durationMs : 1,
  });
}
