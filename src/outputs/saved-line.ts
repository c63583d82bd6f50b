import type { Avoided, AvoidedReason } from '../core/avoided.js';
import { counted } from './format.js';

const words: Record<AvoidedReason, string> = {
  flaky: 'green when re-run',
  'shared-cause': 'for other tests of the same cause',
  'earlier-fix': 'green with an earlier fix',
  'open-question': 'already waiting for an answer',
  'person-needed': 'that only a person can fix',
  'tries-used': 'whose tries are used up',
  environment: 'because of the environment',
  quarantined: 'in quarantine',
};

/** Formats the avoided agent runs: `3 agent runs saved: 2 green when re-run, 1 in quarantine`; null if there were none. */
export function savedLine(avoided: readonly Avoided[]): string | null {
  if (avoided.length === 0) return null;
  const sum = avoided.reduce((total, { count }) => total + count, 0);
  return `${counted(sum, 'agent run')} saved: ${avoided.map(({ reason, count }) => `${count} ${words[reason]}`).join(', ')}`;
}
