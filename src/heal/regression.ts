import type { DiagnosedFailure } from '../core/cause.js';
import { isHealed } from '../core/verdict.js';
import { chooseRegression, type RegressionTests, type TestFile } from '../core/choose-regression.js';
import { failureKey, testsOf } from '../core/failure.js';
import { minimalSet } from '../blame/minimal-set.js';
import type { RegressionResult } from '../event.js';
import type { TestState } from '../run/run-state.js';
import { attemptDecided } from './attempt/attempt-decided.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { type CauseRecord, changesOf, isSuiteRed, keptAttempts, type Progress } from './progress.js';
import type { ProofTest } from './proof-test.js';
import { endCause } from './end-cause.js';
import { revertChanges } from './attempt/try-fix.js';
import { tellDecided } from './tell-tests.js';

/** The result of the regression run. */
interface Left {
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

/** The key of the suite's own failure among the ids of tests. */
export const suiteKey = failureKey({ scope: 'suite', errors: [], stderr: '' });

/**
 * Re-runs the tests around the kept fixes, or the whole suite if time allows: what was green has to stay green. A fix that breaks a test
 * is identified by reverting it, and stays reverted (HN-6). For the tests that are being proven, this is also the run with their fix
 * reapplied (HN-5), so they are always included.
 */
export async function runRegression(
  progress: Progress,
  first: SuiteRun,
  proven: readonly ProofTest[],
): Promise<Left> {
  const { session } = progress;
  const nothing: Left = { red: new Set(), broke: false, failures: [] };
  const { regression, flips } = session.settings.verify;
  const kept = progress.causes.filter((one) => keptAttempts(one).length > 0);
  const isAll = regression === 'suite' && kept.length > 0;
  if (session.signal.aborted || (!isAll && (flips === 0 || proven.length === 0))) return nothing;
  const chosen = isAll ? choose(progress, first, kept) : { files: [], leftOut: [] };
  const own = testsOf(proven.map(({ failure }) => failure)).map(({ id }) => id);
  const ids = [...new Set([...chosen.files.flatMap((one) => one.ids), ...own])];
  const green = new Set([...own, ...greenTests(progress), ...(isSuiteSound(progress) ? [suiteKey] : [])]);
  const all = ids.length === 0 || (isAll && chosen.leftOut.length === 0);
  const purpose = isAll ? 'regression' : 'proof';
  const { red: once } = await redAmong(progress, { ids, all, of: green, purpose });
  const again = once.size > 0 ? await redAmong(progress, { ids: [...once], of: once, purpose }) : null;
  const twice = again?.red ?? once;
  if (session.signal.aborted) return nothing;
  addSteps(proven, once, twice);
  sayUnsteady(progress, { own, once, twice });
  const marked = markedToFail(again?.run ?? null).filter((id) => !own.includes(id));
  const { broke, left } = await revertWhatBroke(
    progress,
    kept,
    new Set([...twice].filter((id) => !marked.includes(id))),
  );
  const leftOut = chosen.leftOut.flatMap((one) => one.ids).filter((id) => !ids.includes(id)).length;
  if (isAll) session.bus.emit({ type: 'regression.ended', tests: ids.length, leftOut, broke });
  const isNews = left.has(suiteKey) && proven.every(({ failure }) => failure.failure.scope === 'test');
  const news = new Set([...marked, ...(isNews ? [suiteKey] : [])]);
  const seen = news.size > 0 && again?.run?.tests.length ? await session.diagnose(again.run) : [];
  const failures = seen.filter(({ failure }) => news.has(failureKey(failure)));
  return { red: left, broke: broke.length > 0, failures };
}

function markedToFail(run: SuiteRun | null): string[] {
  return (run?.failures ?? []).flatMap(({ test, status }) => (status === 'passed' ? [test.id] : []));
}

/** Whether the suite itself has not failed so far, or only without a fix that is now in the tree. */
function isSuiteSound({ causes, suiteFlakes }: Progress): boolean {
  return suiteFlakes === 0 && !isSuiteRed(causes);
}

function allTests({ session }: Progress): TestState[] {
  return [...session.bus.run().tests.values()];
}

function greenTests(progress: Progress): string[] {
  return allTests(progress).flatMap(({ id, verdict }) =>
    verdict === 'passed' || isHealed(verdict) ? [id] : [],
  );
}

function addSteps(proven: readonly ProofTest[], once: ReadonlySet<string>, twice: ReadonlySet<string>): void {
  for (const { failure, steps } of proven) {
    const key = failureKey(failure.failure);
    if (once.has(key)) steps.push('red');
    if (!twice.has(key)) steps.push('green');
  }
}

interface Unsteady {
  own: readonly string[];
  once: ReadonlySet<string>;
  twice: ReadonlySet<string>;
}

/** Handles tests that were red once and green when re-run: a healed test still counts as healed, any other is flaky. */
function sayUnsteady(progress: Progress, { own, once, twice }: Unsteady): void {
  const { bus } = progress.session;
  for (const { id, title, verdict } of allTests(progress)) {
    if (!once.has(id) || twice.has(id)) continue;
    if (!own.includes(id) && verdict !== 'healed') {
      bus.emit({ type: 'tests.decided', ids: [id], verdict: 'flaky' });
      continue;
    }
    const message = `${title.join(' › ')}: red once in the regression run but green when re-run; the fix is kept`;
    bus.emit({ type: 'run.warning', message });
  }
}

/** Uses the run's tests rather than those of the first run, which may not have reached any. */
function choose(progress: Progress, first: SuiteRun, kept: readonly CauseRecord[]): RegressionTests {
  const files = new Map<string, TestFile>();
  const healed = new Set(
    kept.flatMap(({ cause }) => cause.members.map(({ failure }) => failureKey(failure))),
  );
  const tests = allTests(progress);
  for (const { id, file, durationMs } of tests) {
    const before = files.get(file) ?? { file, ids: [], durationMs: 0 };
    files.set(file, { file, ids: [...before.ids, id], durationMs: before.durationMs + durationMs });
  }
  const sum = tests.reduce((total, { durationMs }) => total + durationMs, 0);
  return chooseRegression([...files.values()], {
    healed: tests.flatMap(({ id, file }) => (healed.has(id) ? [file] : [])),
    changed: kept.flatMap(keptAttempts).flatMap((one) => one.files.map((changed) => changed.path)),
    timeMs: progress.session.settings.verify.regressionTimeMs,
    workers: first.tests.length > 0 && first.durationMs > 0 ? sum / first.durationMs : 1,
  });
}

interface RedRequest {
  ids: readonly string[];
  /** Runs the whole selection rather than the individual ids. */
  all?: boolean;
  of: ReadonlySet<string>;
  purpose?: 'regression' | 'proof';
}

/** What a run shows of the tests that were green. */
interface Seen {
  readonly red: ReadonlySet<string>;
  /** Null if nothing could be run. */
  readonly run: SuiteRun | null;
}

/**
 * Returns which of the tests are red now; all of them if the suite cannot run. The suite itself may fail although its tests pass (a
 * worker's teardown, a global teardown); whether it still does, only the whole selection shows.
 */
async function redAmong(
  { session, rerunIds }: Progress,
  { ids, all = false, of, purpose = 'regression' }: RedRequest,
): Promise<Seen> {
  if ((await session.prepare()) !== null) return { red: of, run: null };
  const again = [...new Set(ids.flatMap((id) => rerunIds[id] ?? [id]))];
  const isWhole = all || ids.includes(suiteKey);
  const run = await session.runAgain({ ids: isWhole ? null : again, purpose, causeId: null });
  if (run.tests.length === 0) return { red: of, run };
  const asked = new Set(ids);
  const tests = run.tests.filter(
    ({ test, outcome }) => asked.has(test.id) && outcome !== 'expected' && outcome !== 'flaky',
  );
  const red = [...tests.map(({ test }) => test.id), ...(run.suiteFailure ? [suiteKey] : [])];
  return { red: new Set(red.filter((id) => of.has(id))), run };
}

/** Reverts the fixes that broke these tests. */
export async function revertWhatBroke(
  progress: Progress,
  kept: readonly CauseRecord[],
  broken: ReadonlySet<string>,
): Promise<{ broke: RegressionResult['broke']; left: ReadonlySet<string> }> {
  const { session } = progress;
  const tests = new Map<CauseRecord, string[]>();
  for (const [id, records] of await brokenBy(progress, kept, broken))
    for (const record of records) tests.set(record, [...(tests.get(record) ?? []), id]);
  const reverted = [...tests.keys()];
  const lost = reverted.length > 0 ? await revertChanges(session, reverted.flatMap(changesOf)) : [];
  for (const [record, ids] of tests) await reject(progress, record, becauseOf(progress, ids));
  await rejectLost(progress, lost);
  const known = new Set([...tests.values()].flat());
  const left = new Set([...broken].filter((id) => !known.has(id)));
  const broke = [...tests].map(([record, ids]) => ({ causeId: record.cause.id, tests: ids }));
  if (reverted.length < 2 || session.signal.aborted) return { broke, left };
  // No run has shown the tests without all of these fixes.
  const { red } = await redAmong(progress, { ids: [...broken], of: broken });
  return { broke, left: red };
}

/**
 * Finds the fixes without which each of these tests is green. First, each fix is taken out by itself, newest first: the suite is then nearly as
 * it will be. A test that is red without any single one may have been broken by several: the smallest such set is sought. If none is found, all
 * fixes are in the tree again; otherwise, the caller reverts those found.
 */
async function brokenBy(
  progress: Progress,
  kept: readonly CauseRecord[],
  broken: ReadonlySet<string>,
): Promise<Map<string, readonly CauseRecord[]>> {
  const { signal, workspace } = progress.session;
  const newestFirst = kept.toReversed();
  const ran = new Map<string, ReadonlySet<string>>();
  const redWithout = async (records: readonly CauseRecord[]): Promise<ReadonlySet<string> | null> => {
    const changes = records.flatMap(changesOf);
    const key = changes.toSorted().join();
    const known = ran.get(key);
    if (known || signal.aborted) return known ?? null;
    await workspace.without(changes);
    const { red } = await redAmong(progress, { ids: [...broken], of: broken });
    if (signal.aborted) return null;
    ran.set(key, red);
    return red;
  };
  const found = new Map<string, readonly CauseRecord[]>();
  for (const record of newestFirst) {
    const left = [...broken].filter((id) => !found.has(id));
    const red = left.length > 0 && (await redWithout([record]));
    for (const id of left) if (red && !red.has(id)) found.set(id, [record]);
  }
  for (const id of broken) {
    if (found.has(id)) continue;
    const test = async (records: readonly CauseRecord[]) => {
      const red = await redWithout(records);
      return red && (red.has(id) ? 'red' : 'green');
    };
    const several = await minimalSet(newestFirst, { test, apart: () => 0 });
    if (several?.isMinimal) found.set(id, several.set);
  }
  if (found.size === 0 && ran.size > 0) await workspace.without([]);
  return found;
}

function becauseOf({ session }: Progress, ids: readonly string[]): string {
  if (ids.includes(suiteKey)) return 'its fix broke the suite itself and was reverted';
  const { tests } = session.bus.run();
  const names = ids.slice(0, 3).map((id) => tests.get(id)?.title.at(-1) ?? '');
  const which = ids.length === 1 ? 'another test' : `${ids.length} other tests`;
  return `its fix broke ${which} (${names.join(', ')}) and was reverted`;
}

/** Rejects fixes that were built on a reverted one and cannot be applied without it. */
export async function rejectLost({ causes, ...progress }: Progress, lost: readonly string[]): Promise<void> {
  for (const record of causes.filter((one) => changesOf(one).some((id) => lost.includes(id)))) {
    const reason = 'its fix was built on one that was reverted, and was reverted with it';
    await reject({ causes, ...progress }, record, reason);
  }
}

/** Rejects a fix that achieved its purpose but was reverted for its side effects; the cause's reason says so. */
async function reject(progress: Progress, record: CauseRecord, reason: string): Promise<void> {
  const { session } = progress;
  const kept = keptAttempts(record);
  const attempts = record.attempts.map((one) => (kept.includes(one) ? { ...one, reverted: true } : one));
  const causeId = record.cause.id;
  const { unproven, ...rest } = record;
  if (unproven?.by === 'own-fix') {
    const { attemptId: id } = unproven.healed;
    const attempt = attempts.at(-1);
    if (attempt)
      await attemptDecided(session, { causeId, id, attempt: { ...attempt, failedBecause: reason } });
  } else {
    const reverted = attempts.filter((one) => !record.attempts.includes(one));
    for (const attempt of reverted) session.bus.emit({ type: 'attempt.judged', causeId, attempt });
  }
  tellDecided(session, record.cause.members, { verdict: 'failed' });
  const others = progress.proofTests.filter((one) => one.causeId !== causeId);
  progress.proofTests.splice(0, Infinity, ...others);
  await endCause(progress, { ...rest, verdict: 'failed', reason, attempts });
  await session.store.fixReverted({ causeId, signature: record.cause.lead.signature, reason });
}
