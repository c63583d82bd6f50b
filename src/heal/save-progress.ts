import { isHealed, isResolved } from '../core/verdict.js';
import type { CauseRecord, Progress } from './progress.js';
import { reportTests } from '../run/report-of.js';
import type { SeenTest } from '../event.js';

/** Where a run stands, as the store keeps it for `resume`. */
export interface SavedProgress {
  /** The suite's own failure was there and is not healed: only the whole selection shows what is left. */
  readonly suiteOpen: boolean;
  readonly tests: readonly SavedTest[];
}

/** Where one of its tests stands. */
interface SavedTest {
  readonly test: SeenTest;
  /** Work on it was not finished: it is red, and no cause of it is decided. */
  readonly open: boolean;
  /** What to run so that it runs again. */
  readonly rerunIds: readonly string[];
}

/** Keeps where each test stands, so that a killed run can go on from there (ME-8). */
export async function saveProgress(progress: Progress): Promise<void> {
  const { session, causes, rerunIds } = progress;
  const concluded = new Set(causes.filter(isFinal).map((one) => one.cause.id));
  const tests = reportTests(session.bus.run()).map((one) => {
    const { causeId, causeIds: _, ...test } = one;
    const open = isOpen(test, concluded.has(causeId ?? ''));
    return { test, open, rerunIds: rerunIds[test.id] ?? [test.id] };
  });
  const saved: SavedProgress = { suiteOpen: isSuiteOpen(progress), tests };
  await session.store.saveProgress(saved);
}

function isSuiteOpen({ firstWasBroken, causes }: Progress): boolean {
  return (
    firstWasBroken &&
    !causes.some(({ verdict, cause }) => cause.lead.failure.scope === 'suite' && isHealed(verdict))
  );
}

/**
 * Whether nothing is left to do about the tests of a cause that are red. What a healed or superseded one left red waits for a cause of
 * its own (HL-3, HL-6).
 */
function isFinal({ verdict, overBudget, interrupted }: CauseRecord): boolean {
  return !isResolved(verdict) && !overBudget && !interrupted;
}

/** A question may have been answered and an agent program repaired meanwhile, so these are looked at again. */
function isOpen({ verdict }: SeenTest, isConcluded: boolean): boolean {
  if (verdict === 'escalated' || verdict === 'agent-unusable') return true;
  return verdict === 'failed' && !isConcluded;
}
