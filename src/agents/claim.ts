import { z } from 'zod';
import { type AgentClaim, type Opinion, opinionVerdicts } from '../model/attempt.js';
import { jsonOf } from '../json-of.js';

const statuses: readonly AgentClaim['status'][] = ['fixed', 'not-fixed', 'needs-person'];

/**
 * Parses a line of output as a completion signal (AG-3): `SELF-HEAL: {"status":"fixed","summary":"…"}`, or a line that consists of the words
 * `Fix applied successfully`; returns null for any other line. The line that explains the signal in the prompt is not valid JSON, so an agent
 * that repeats its prompt claims nothing.
 */
export function readClaim(line: string): AgentClaim | null {
  const json = jsonIn(line);
  if (json !== undefined) return parse(json);
  return /^\W*Fix applied successfully\W*$/i.test(line) ? { status: 'fixed', summary: '' } : null;
}

function jsonIn(line: string): string | undefined {
  return /^\W*SELF-HEAL:\s*(\{.*\})\W*$/.exec(line)?.[1];
}

function parse(json: string): AgentClaim | null {
  const { status, summary } = Object(jsonOf(json)) as { status?: unknown; summary?: unknown };
  const known = statuses.find((one) => one === status);
  return known ? { status: known, summary: typeof summary === 'string' ? summary : '' } : null;
}

const opinionShape = z.object({
  verdict: z.enum(opinionVerdicts),
  file: z.string().nullish(),
  line: z.int().positive().nullish(),
  why: z.string().regex(/\S/),
});

/** Parses a line of output as the answer to the question about a fix (HN-11); returns null for any other line. */
export function readOpinion(line: string): Opinion | null {
  const json = jsonIn(line);
  if (json === undefined) return null;
  const { success, data } = opinionShape.safeParse(jsonOf(json));
  return success ? { ...data, file: data.file ?? null, line: data.line ?? null } : null;
}

/** Returns the last completion signal (AG-3), and the last opinion, in a message of several lines. */
export function answersIn(text: string): { readonly claim: AgentClaim | null; readonly opinion?: Opinion } {
  const lines = text.split('\n').toReversed();
  const first = <T>(read: (line: string) => T | null) =>
    lines.reduce<T | null>((found, line) => found ?? read(line), null);
  const opinion = first(readOpinion);
  return { claim: first(readClaim), ...(opinion ? { opinion } : {}) };
}
