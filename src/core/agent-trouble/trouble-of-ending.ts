import type { AgentEnding } from '../attempt.js';
import type { AgentTrouble } from './classify-agent-failure.js';

/** What ailed an agent program that could not do its work, in the one type for it (AG-6); null where it did, well or badly. */
export function troubleOfEnding({ kind }: AgentEnding): AgentTrouble | null {
  if (kind === 'timed-out') return 'timeout';
  if (kind === 'aborted' || kind === 'retryable') return kind;
  if (kind === 'context-overflow') return 'context_overflow';
  return kind === 'unusable' ? 'fatal' : null;
}
