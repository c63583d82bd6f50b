import type { DiagnosedFailure } from '../core/cause.js';
import { failureKey } from '../core/failure.js';
import { isGreen } from '../core/judge.js';
import { fixesIn, type Progress, sawRed } from './progress.js';
import { retest } from './retest.js';
import type { SuiteRun } from '../playwright/suite-run.js';

/** What re-running the red tests unchanged showed. */
export interface Confirmation {
  /** Red again: worth an agent. */
  readonly confirmed: readonly DiagnosedFailure[];
  /** Green without any change: flaky (HL-7). */
  readonly flaky: readonly DiagnosedFailure[];
  /** Failures that the re-run revealed in addition to those it was made for. */
  readonly uncovered: readonly DiagnosedFailure[];
  /** The suite's own failure if it could not run at all this time, so that nothing was confirmed. */
  readonly blockedBy: DiagnosedFailure | null;
  /** The last confirming run, or null if there was none. */
  readonly run: SuiteRun | null;
}

/**
 * Re-runs failing tests unchanged, `verify.confirm` times, before any agent is paid for them (HL-7). Tests that runs of the same tree
 * have already shown to be red are not run again. If the re-run gathered more evidence than the first run (whose capture may have
 * failed), the newer evidence is kept.
 */
export async function confirm(
  progress: Progress,
  failures: readonly DiagnosedFailure[],
): Promise<Confirmation> {
  const known = failures.filter((one) => isConfirmed(progress, one));
  let confirmed = failures.filter((one) => !known.includes(one));
  const { session } = progress;
  const flaky: DiagnosedFailure[] = [];
  const uncovered: DiagnosedFailure[] = [];
  let run: SuiteRun | null = null;
  for (let time = 0; time < session.settings.verify.confirm && confirmed.length > 0; time += 1) {
    const seen = await retest(session, { failures: confirmed, purpose: 'confirm', causeId: null });
    run = seen.run;
    const aboutSuite = confirmed.some((one) => one.failure.scope === 'suite');
    if (seen.suiteFailure && !aboutSuite && (seen.run?.tests.length ?? 0) === 0) {
      return { confirmed: [], flaky, uncovered, blockedBy: seen.suiteFailure, run };
    }
    const ends = confirmed.map((before) => ({ before, now: seen.observe(before) }));
    flaky.push(...ends.filter(({ now }) => isGreen(now)).map(({ before }) => before));
    uncovered.push(...seen.others);
    confirmed = ends
      .filter(({ now }) => !isGreen(now))
      .map(({ before, now }) => betterSeen(before, now.failure ?? now.suiteFailure));
    for (const one of confirmed) sawRed(progress, one);
  }
  return { confirmed: [...known, ...confirmed], flaky, uncovered, blockedBy: null, run };
}

/** Whether a failure has been red often enough, the last time in the current tree. */
function isConfirmed(progress: Progress, { failure, signature }: DiagnosedFailure): boolean {
  const last = progress.lastRed.get(failureKey(failure));
  const times = last?.signature === signature && last.fixes === fixesIn(progress) ? last.times : 0;
  return times > Math.max(1, progress.session.settings.verify.confirm);
}

function betterSeen(before: DiagnosedFailure, again: DiagnosedFailure | null): DiagnosedFailure {
  if (again === null || again.evidence.missing.length >= before.evidence.missing.length) return before;
  return { ...again, rerunIds: before.rerunIds };
}
