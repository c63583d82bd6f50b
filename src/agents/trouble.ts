import { agentTroubleOf } from '../core/agent-trouble.js';
import type { AgentEnding } from '../core/attempt.js';

const longestReason = 300;
const unknownRemedy = 'Look at the log of the attempt; start the agent program by hand to see more.';

/** What a program's own account of its failure means for the attempt (AG-6, AG-7). */
export function endingOfTrouble(
  program: string,
  text: string,
): Extract<AgentEnding, { kind: 'troubled' | 'unusable' }> {
  const { kind, remedy } = agentTroubleOf(text);
  const words = text.replaceAll(/\s+/g, ' ').trim().slice(0, longestReason);
  const reason = `${program}: ${words === '' ? 'it failed without a word' : words}`;
  if (kind === 'fatal') return { kind: 'unusable', reason, remedy: remedy ?? unknownRemedy };
  return { kind: 'troubled', trouble: kind, reason };
}
