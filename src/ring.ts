import path from 'node:path';
import type { Attempt } from './core/attempt.js';
import { failureKey, type TestRef } from './core/failure.js';
import { chooseRing, type Ring, type RingFile } from './core/ring.js';
import { spentOn } from './core/spent-on.js';
import type { SuiteRun } from './playwright/suite-run.js';
import type { CauseRecord, Progress } from './progress.js';
import type { Session } from './session.js';
import { type Change, readChange } from './workspace/change.js';

/** What running the suite around the fixes once more showed (HN-6). */
export interface RingResult {
  /** Tests that ran. */
  readonly tests: number;
  /** Tests that there was no time for. */
  readonly leftOut: number;
  /** Fixes that broke what had been green; they were taken back. */
  readonly broke: readonly { readonly causeId: string; readonly tests: readonly TestRef[] }[];
}

/**
 * Runs the tests around the kept fixes once more, the whole suite where time allows: what was green stays green, and a fix that
 * breaks a test is found by taking it out, and stays out (HN-6). Null where no fix was kept or the ring is off.
 */
export async function runRing(progress: Progress, first: SuiteRun): Promise<RingResult | null> {
  const { session, board } = progress;
  const { ring, ringTimeMs } = session.settings.verify;
  const kept = progress.causes.filter((one) => keptOf(one).length > 0);
  if (ring === 'none' || kept.length === 0 || session.signal.aborted) return null;
  const chosen = choose(progress, first, { kept, timeMs: ringTimeMs });
  const green = new Set(
    board
      .standings()
      .flatMap(({ test, verdict }) => (verdict === 'passed' || verdict === 'healed' ? [test.id] : [])),
  );
  const ids = chosen.files.flatMap((one) => one.ids);
  const red = await redAmong(progress, { ids, all: chosen.leftOut.length === 0, of: green });
  const broken = red.size === 0 ? red : await redAmong(progress, { ids: [...red], all: false, of: red });
  for (const id of red) if (!broken.has(id)) board.decided(id, 'flaky');
  const broke = broken.size === 0 ? [] : await blame(progress, kept, broken);
  return { tests: ids.length, leftOut: chosen.leftOut.flatMap((one) => one.ids).length, broke };
}

interface Choice {
  kept: readonly CauseRecord[];
  timeMs: number;
}

/** Where the first run came to no test, the tests are those that a later one brought to light. */
function choose({ session, board }: Progress, first: SuiteRun, { kept, timeMs }: Choice): Ring {
  const files = new Map<string, RingFile>();
  let sum = 0;
  for (const { test, durationMs } of board.standings()) {
    const { file } = test.location;
    const before = files.get(file) ?? { file, ids: [], durationMs: 0 };
    files.set(file, { file, ids: [...before.ids, test.id], durationMs: before.durationMs + durationMs });
    sum += durationMs;
  }
  const members = kept.flatMap(({ cause }) => cause.members);
  return chooseRing([...files.values()], {
    healed: members.flatMap(({ failure }) => (failure.scope === 'test' ? [failure.test.location.file] : [])),
    changed: kept
      .flatMap(keptOf)
      .flatMap(({ files: changed }) => changed.map((one) => path.join(session.cwd, one.path))),
    timeMs,
    workers: first.tests.length > 0 && first.durationMs > 0 ? sum / first.durationMs : 1,
  });
}

interface RedRequest {
  ids: readonly string[];
  /** The whole selection, rather than its ids one by one. */
  all: boolean;
  of: ReadonlySet<string>;
}

/** Which of the tests are red now; all of them where the suite cannot run. */
async function redAmong({ session }: Progress, { ids, all, of }: RedRequest): Promise<Set<string>> {
  if ((await session.prepare()) !== null) return new Set(of);
  const run = await session.runAgain({ ids: all ? null : ids, purpose: 'ring', causeId: null });
  if (run.tests.length === 0) return new Set(of);
  const asked = new Set(ids);
  const red = run.tests.filter(
    ({ test, outcome }) => asked.has(test.id) && outcome !== 'expected' && outcome !== 'flaky',
  );
  return new Set(red.map(({ test }) => test.id).filter((id) => of.has(id)));
}

/** Takes the fixes out one by one, the newest first, and leaves out those without which a broken test is green again. */
async function blame(
  progress: Progress,
  kept: readonly CauseRecord[],
  broken: ReadonlySet<string>,
): Promise<RingResult['broke']> {
  const { session, board } = progress;
  const broke: { causeId: string; tests: readonly TestRef[] }[] = [];
  let left = new Set(broken);
  for (const record of kept.toReversed()) {
    if (left.size === 0 || session.signal.aborted) break;
    const changes = await changesOf(session, record);
    await session.workspace.keeping(changes);
    await session.workspace.move(changes, 'out');
    const still = await redAmong(progress, { ids: [...left], all: false, of: left });
    const mended = [...left].filter((id) => !still.has(id));
    if (mended.length === 0) {
      await session.workspace.move(changes, 'in');
      await session.workspace.decided();
      continue;
    }
    const tests = board.standings().flatMap(({ test }) => (mended.includes(test.id) ? [test] : []));
    await reject(progress, record, tests);
    await session.workspace.decided();
    broke.push({ causeId: record.cause.id, tests });
    left = still;
  }
  for (const id of left) board.decided(id, 'failed');
  if (left.size > 0) {
    const message = `${left.size} of the tests that were green are red now, and no fix alone is to blame`;
    session.bus.emit({ type: 'run.warning', message });
  }
  return broke;
}

/** The fix did what it was for and broke another test: it is taken back, and the cause says which. */
async function reject(progress: Progress, record: CauseRecord, tests: readonly TestRef[]): Promise<void> {
  const { causes, board, session } = progress;
  const names = tests.map(({ titlePath }) => titlePath.at(-1) ?? '').slice(0, 3);
  const reason = `its fix broke ${tests.length === 1 ? 'another test' : `${tests.length} other tests`} (${names.join(', ')}) and was taken back`;
  const attempts = record.attempts.map((one) =>
    keptOf(record).includes(one) ? { ...one, takenBack: true } : one,
  );
  const now: CauseRecord = { ...record, verdict: 'failed', reason, attempts };
  causes[causes.indexOf(record)] = now;
  for (const member of record.cause.members) board.decided(failureKey(member.failure), 'failed');
  const { signature, diagnosis } = record.cause.lead;
  await session.memory.fixTakenBack({
    causeId: record.cause.id,
    signature,
    category: diagnosis.category,
    verdict: 'failed',
    reason,
    bySharedFix: false,
  });
  session.bus.emit({
    type: 'cause.ended',
    causeId: record.cause.id,
    verdict: 'failed',
    reason,
    attempts: attempts.length,
    costUsd: spentOn(attempts).costUsd,
  });
}

async function changesOf({ folder }: Session, record: CauseRecord): Promise<Change[]> {
  const ids = keptOf(record).flatMap(({ change }) => change ?? []);
  return (await Promise.all(ids.map((id) => readChange(folder.dir, id)))).filter((one) => one !== null);
}

/** The attempts of a cause whose changes are in the tree. */
function keptOf({ attempts }: CauseRecord): Attempt[] {
  return attempts.filter(
    ({ takenBack, judged, change }) =>
      !takenBack && change !== null && (judged === 'green' || judged === 'changed'),
  );
}
