import { isHealed, isResolved } from '../core/verdict.js';
import type { CauseRecord, Progress } from './progress.js';
import { reportTests } from '../run/report-of.js';
import type { SeenTest } from '../event.js';

/** How far a run has got, as stored for `resume`. */
export interface SavedProgress {
  /** Whether the suite's own failure is still open, so that only the whole selection shows what is left. */
  readonly suiteOpen: boolean;
  readonly tests: readonly SavedTest[];
}

/** The state of one test. */
interface SavedTest {
  readonly test: SeenTest;
  /** Whether work on it is unfinished: it is red, and none of its causes is decided. */
  readonly open: boolean;
  /** The ids to run so that it is re-run. */
  readonly rerunIds: readonly string[];
}

/** Stores the state of each test, so that a killed run can be resumed (ME-8). */
export async function saveProgress(progress: Progress): Promise<void> {
  const { session, causes, rerunIds } = progress;
  const done = new Set(causes.filter(isFinal).map((one) => one.cause.id));
  const tests = reportTests(session.bus.run()).map((one) => {
    const { causeId, causeIds: _, ...test } = one;
    const open = isOpen(test, done.has(causeId ?? ''));
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
 * Whether nothing is left to do for the red tests of a cause. Tests that a healed or superseded cause left red get a cause of their own
 * (HL-3, HL-6).
 */
function isFinal({ verdict, overBudget }: CauseRecord): boolean {
  return !isResolved(verdict) && !overBudget && verdict !== 'interrupted';
}

/**
 * Escalated tests and those without a usable agent are open: the question may have been answered, or the program repaired. So are those that no
 * run got to.
 */
function isOpen({ verdict }: SeenTest, isConcluded: boolean): boolean {
  if (verdict === 'escalated' || verdict === 'agent-unusable' || verdict === 'not-run') return true;
  return verdict === 'failed' && !isConcluded;
}
