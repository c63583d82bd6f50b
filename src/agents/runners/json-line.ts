import type { AgentClaim } from '../../core/attempt.js';
import { readClaim } from '../claim.js';

/** A line of an output that mixes JSON with other text, as data; null for the other text. */
export function parseJsonLine(line: string): unknown {
  if (!line.trimStart().startsWith('{')) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** The last completion signal in a text of several lines (AG-3). */
export function lastClaim(text: string): AgentClaim | null {
  return text.split('\n').reduce<AgentClaim | null>((last, line) => readClaim(line) ?? last, null);
}

/** The end of what a program wrote that was no JSON: what it says of a failure stands there. */
export function createRemainder(most = 4000): { add(line: string): void; text(): string } {
  let kept = '';
  return {
    add: (line) => {
      kept = `${kept}${line}\n`.slice(-most);
    },
    text: () => kept.trim(),
  };
}
