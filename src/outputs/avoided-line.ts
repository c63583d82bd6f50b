import type { Avoided, AvoidedReason } from '../core/avoided.js';
import { counted } from './format.js';

const words: Record<AvoidedReason, string> = {
  flaky: 'green when run again',
  'shared-cause': 'of a cause that was healed once for all',
  'earlier-fix': 'green by an earlier fix',
  'open-question': 'waiting for an answer already',
  'person-needed': 'in need of a person',
  environment: 'against a dead server',
  quarantined: 'in quarantine',
};

/** `3 agent runs avoided: 2 green when run again, 1 in quarantine`; null where there were none. */
export function avoidedLine(avoided: readonly Avoided[]): string | null {
  if (avoided.length === 0) return null;
  const sum = avoided.reduce((total, { count }) => total + count, 0);
  return `${counted(sum, 'agent run')} avoided: ${avoided.map(({ reason, count }) => `${count} ${words[reason]}`).join(', ')}`;
}
