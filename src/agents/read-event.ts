import type { z } from 'zod';
import type { AgentClaim } from '../core/attempt.js';
import { jsonOf } from '../json-of.js';
import { readClaim } from './claim.js';

/** Parses a line of a program's JSON lines as an event with this shape; returns null for any other line. */
export function readEvent<S extends z.ZodType>(shape: S, line: string): z.output<S> | null {
  return line.startsWith('{') ? (shape.safeParse(jsonOf(line)).data ?? null) : null;
}

/** Returns the last completion signal in a message of several lines, or null (AG-3). */
export function claimIn(text: string): AgentClaim | null {
  return text.split('\n').reduce<AgentClaim | null>((last, line) => readClaim(line) ?? last, null);
}

/** Adds up the known values; null if none is known. */
export function plus(sum: number | null, more: number | null | undefined): number | null {
  return more === null || more === undefined ? sum : (sum ?? 0) + more;
}
