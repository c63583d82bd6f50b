import { isKept } from '../../core/attempt.js';
import type { ReportCause, ReportTest } from '../../run/report.js';
import { clipped, counted, dollars, duration } from '../format.js';
import { suiteItself } from '../final-status.js';
import { keptFiles } from '../next-steps.js';
import { nameOf } from '../summary-cause.js';

/** What came of a cause in one sentence: what its agent says of the fix, else what was changed, else how it ended. */
export function resultOf(cause: ReportCause, revealed: readonly string[] = []): string {
  if (cause.verdict === 'superseded' && revealed.length > 0)
    return `fixed, which revealed ${revealed.slice(0, 5).join(', ')}`;
  const fix = cause.attempts.findLast((one) => one.judged === 'green' && isKept(one));
  if (fix?.claim?.summary) return fix.claim.summary;
  const files = keptFiles(cause).map(({ path }) => path);
  if (cause.verdict === 'healed' && files.length > 0) return `changed ${[...new Set(files)].join(', ')}`;
  return cause.reason;
}

/** The tests of a cause: the first by its name, the others counted. */
export function testsOf({ tests }: ReportCause, byId: ReadonlyMap<string, ReportTest>): string {
  const first = byId.get(tests[0] ?? '');
  if (!first) return suiteItself;
  const more = tests.length > 1 ? ` and ${counted(tests.length - 1, 'more test')}` : '';
  return `${clipped(nameOf(first), 140)}${more}`;
}

/** What it took: the last agent, time and money over all attempts. */
export function effortOf({ attempts, costUsd }: ReportCause): string {
  const last = attempts.findLast(({ agent }) => agent !== null);
  const took = attempts.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return [
    ...(last?.agent ? [last.slashCommand ?? last.agent] : []),
    ...(attempts.length > 1 ? [counted(attempts.length, 'attempt')] : []),
    ...(took > 0 ? [duration(took)] : []),
    ...(costUsd === null ? [] : [dollars(costUsd)]),
  ].join(' · ');
}
