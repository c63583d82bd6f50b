import type { ChalkInstance } from 'chalk';
import type { CauseVerdict } from '../core/verdict.js';

const marks: Record<CauseVerdict, string> = {
  passed: '✓',
  healed: '✓',
  'green-once': '~',
  superseded: '→',
  flaky: '~',
  failed: '✗',
  rejected: '✗',
  escalated: '?',
  quarantined: '~',
  'agent-unusable': '!',
  'not-run': '-',
};

/** How a cause ended, as one sign; the sign and the word beside it tell it, the colour only repeats it. */
export function markOf(verdict: CauseVerdict, paint: ChalkInstance): string {
  return (isGood(verdict) ? paint.green : paint.red)(marks[verdict]);
}

/** Nothing is left to do about it. */
export function isGood(verdict: CauseVerdict): boolean {
  return ['passed', 'healed', 'green-once', 'superseded'].includes(verdict);
}
