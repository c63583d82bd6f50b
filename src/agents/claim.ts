import type { AgentClaim } from '../core/attempt.js';
import { jsonOf } from '../json-of.js';

const statuses: readonly AgentClaim['status'][] = ['fixed', 'not-fixed', 'needs-person'];

/**
 * Parses a line of output as a completion signal (AG-3): `SELF-HEAL: {"status":"fixed","summary":"…"}`, or a line that consists of the words
 * `Fix applied successfully`; returns null for any other line. The line that explains the signal in the prompt is not valid JSON, so an agent
 * that repeats its prompt claims nothing.
 */
export function readClaim(line: string): AgentClaim | null {
  const json = /^\W*SELF-HEAL:\s*(\{.*\})\W*$/.exec(line)?.[1];
  if (json !== undefined) return parse(json);
  return /^\W*Fix applied successfully\W*$/i.test(line) ? { status: 'fixed', summary: '' } : null;
}

function parse(json: string): AgentClaim | null {
  const { status, summary } = Object(jsonOf(json)) as { status?: unknown; summary?: unknown };
  const known = statuses.find((one) => one === status);
  return known ? { status: known, summary: typeof summary === 'string' ? summary : '' } : null;
}

/** Returns the last completion signal in a message of several lines, or null (AG-3). */
export function claimIn(text: string): AgentClaim | null {
  return text.split('\n').reduce<AgentClaim | null>((last, line) => readClaim(line) ?? last, null);
}
