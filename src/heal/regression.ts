import path from 'node:path';
import { chooseRegression, type RegressionTests, type TestFile } from '../core/choose-regression.js';
import { failureKey, type TestRef } from '../core/failure.js';
import { attemptDecided } from './attempt/attempt-decided.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { type CauseRecord, changesOf, keptAttempts, type Progress } from './progress.js';
import type { ProofTest } from './proof-test.js';
import { conclude } from './conclude.js';
import { revertChanges } from './attempt/try-fix.js';

/** What running the suite around the fixes once more showed (HN-6). */
export interface RegressionResult {
  /** Tests that ran. */
  readonly tests: number;
  /** Tests that there was no time for. */
  readonly leftOut: number;
  /** Fixes that broke what had been green; they were reverted. */
  readonly broke: readonly Broke[];
}

/** A fix, and the tests that it broke. */
export interface Broke {
  readonly causeId: string;
  readonly tests: readonly TestRef[];
}

/**
 * Runs the tests around the kept fixes once more, the whole suite where time allows: what was green stays green, and a fix that
 * breaks a test is found by taking it out, and stays out (HN-6). To the tests that are being proven it is the run with their fix put back
 * (HN-5), so that they run in any case. Null where there is nothing to run. Gives the tests that are red and that no fix is to blame for.
 */
export async function runRegression(
  progress: Progress,
  first: SuiteRun,
  proven: readonly ProofTest[],
): Promise<{ result: RegressionResult | null; red: ReadonlySet<string> }> {
  const { session } = progress;
  const { regression, flips, regressionTimeMs } = session.settings.verify;
  const kept = progress.causes.filter((one) => keptAttempts(one).length > 0);
  const isAll = regression === 'suite' && kept.length > 0;
  if (session.signal.aborted || (!isAll && (flips === 0 || proven.length === 0)))
    return { result: null, red: new Set() };
  const chosen = isAll
    ? choose(progress, first, { kept, timeMs: regressionTimeMs })
    : { files: [], leftOut: [] };
  const own = proven.flatMap(({ failure }) =>
    failure.failure.scope === 'test' ? [failure.failure.test.id] : [],
  );
  const ids = [...new Set([...chosen.files.flatMap((one) => one.ids), ...own])];
  const green = new Set([...own, ...greenTests(progress)]);
  const all = ids.length === 0 || (isAll && chosen.leftOut.length === 0);
  const purpose = isAll ? 'regression' : 'proof';
  const once = await redAmong(progress, { ids, all, of: green, purpose });
  const twice = once.size === 0 ? once : await redAmong(progress, { ids: [...once], of: once, purpose });
  if (session.signal.aborted) return { result: null, red: new Set() };
  addSteps(proven, once, twice);
  sayUnsteady(progress, { own, once, twice });
  const { broke, left } = await fixThatBroke(progress, kept, twice);
  const leftOut = chosen.leftOut.flatMap((one) => one.ids).filter((id) => !ids.includes(id)).length;
  return { result: isAll ? { tests: ids.length, leftOut, broke } : null, red: left };
}

function greenTests({ records }: Progress): string[] {
  return records
    .all()
    .flatMap(({ test, verdict }) =>
      verdict === 'passed' || verdict === 'healed' || verdict === 'green-once' ? [test.id] : [],
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

/** Red once and green when it was run again: a test that was healed is healed all the same, another one is flaky. */
function sayUnsteady({ session, records }: Progress, { own, once, twice }: Unsteady): void {
  for (const { test, verdict } of records.all()) {
    if (!once.has(test.id) || twice.has(test.id)) continue;
    if (!own.includes(test.id) && verdict !== 'healed') {
      records.decided(test.id, 'flaky');
      continue;
    }
    const message = `${test.titlePath.join(' › ')}: red once in the regression run, and green when it was run again; its fix holds otherwise`;
    session.bus.emit({ type: 'run.warning', message });
  }
}

interface Choice {
  kept: readonly CauseRecord[];
  timeMs: number;
}

/** Where the first run came to no test, the tests are those that a later one revealed. */
function choose({ session, records }: Progress, first: SuiteRun, { kept, timeMs }: Choice): RegressionTests {
  const files = new Map<string, TestFile>();
  let sum = 0;
  for (const { test, durationMs } of records.all()) {
    const { file } = test.location;
    const before = files.get(file) ?? { file, ids: [], durationMs: 0 };
    files.set(file, { file, ids: [...before.ids, test.id], durationMs: before.durationMs + durationMs });
    sum += durationMs;
  }
  const members = kept.flatMap(({ cause }) => cause.members);
  return chooseRegression([...files.values()], {
    healed: members.flatMap(({ failure }) => (failure.scope === 'test' ? [failure.test.location.file] : [])),
    changed: kept
      .flatMap(keptAttempts)
      .flatMap(({ files: changed }) => changed.map((one) => path.join(session.cwd, one.path))),
    timeMs,
    workers: first.tests.length > 0 && first.durationMs > 0 ? sum / first.durationMs : 1,
  });
}

interface RedRequest {
  ids: readonly string[];
  /** The whole selection, rather than its ids one by one. */
  all?: boolean;
  of: ReadonlySet<string>;
  purpose?: 'regression' | 'proof';
}

/** Which of the tests are red now; all of them where the suite cannot run. */
async function redAmong(
  { session, rerunIds }: Progress,
  { ids, all = false, of, purpose = 'regression' }: RedRequest,
): Promise<ReadonlySet<string>> {
  if ((await session.prepare()) !== null) return new Set(of);
  const again = [...new Set(ids.flatMap((id) => rerunIds[id] ?? [id]))];
  const run = await session.runAgain({ ids: all ? null : again, purpose, causeId: null });
  if (run.tests.length === 0) return new Set(of);
  const asked = new Set(ids);
  const red = run.tests.filter(
    ({ test, outcome }) => asked.has(test.id) && outcome !== 'expected' && outcome !== 'flaky',
  );
  return new Set(red.map(({ test }) => test.id).filter((id) => of.has(id)));
}

/** Takes the fixes out one by one, the newest first, and leaves out those without which a broken test is green again. */
export async function fixThatBroke(
  progress: Progress,
  kept: readonly CauseRecord[],
  broken: ReadonlySet<string>,
): Promise<{ broke: readonly Broke[]; left: ReadonlySet<string> }> {
  const { session, records } = progress;
  const broke: Broke[] = [];
  let left = broken;
  for (const record of kept.toReversed()) {
    if (left.size === 0 || session.signal.aborted) break;
    const changes = changesOf(record);
    await session.workspace.without(changes);
    const still = await redAmong(progress, { ids: [...left], of: left });
    const now = left;
    const green = [...now].filter((id) => !still.has(id));
    if (green.length === 0 || session.signal.aborted) {
      await session.workspace.without([]);
      continue;
    }
    const tests = records.all().flatMap(({ test }) => (green.includes(test.id) ? [test] : []));
    const lost = await revertChanges(session, changes);
    await reject(progress, record, becauseOf(tests));
    await rejectLost(progress, lost);
    broke.push({ causeId: record.cause.id, tests });
    left = still;
  }
  return { broke, left };
}

function becauseOf(tests: readonly TestRef[]): string {
  const names = tests.map(({ titlePath }) => titlePath.at(-1) ?? '').slice(0, 3);
  const which = tests.length === 1 ? 'another test' : `${tests.length} other tests`;
  return `its fix broke ${which} (${names.join(', ')}) and was reverted`;
}

/** Fixes that were built on a reverted one, and cannot be applied without it. */
export async function rejectLost({ causes, ...progress }: Progress, lost: readonly string[]): Promise<void> {
  for (const record of causes.filter((one) => changesOf(one).some((id) => lost.includes(id)))) {
    const reason = 'its fix was built on one that was reverted, and was reverted with it';
    await reject({ causes, ...progress }, record, reason);
  }
}

/** The fix did what it was for, and was reverted for what else it did: the cause says why. */
async function reject(progress: Progress, record: CauseRecord, reason: string): Promise<void> {
  const { records, session } = progress;
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
  for (const member of record.cause.members) records.decided(failureKey(member.failure), 'failed');
  const others = progress.proofTests.filter((one) => one.causeId !== causeId);
  progress.proofTests.splice(0, Infinity, ...others);
  await conclude(progress, { ...rest, verdict: 'failed', reason, attempts });
  const { signature, diagnosis } = record.cause.lead;
  await session.store.fixReverted({
    causeId,
    signature,
    category: diagnosis.category,
    verdict: 'failed',
    reason,
    bySharedFix: false,
  });
}
