import { z } from 'zod';
import { type AgentClaim, type Opinion, opinionVerdicts } from '../model/attempt.js';
import { jsonOf } from '../json-of.js';

const claimShape = z.object({
  status: z.enum(['fixed', 'not-fixed', 'needs-person']),
  summary: z.string().catch(''),
});

/**
 * Parses a line of output as a completion signal (AG-3): `SELF-HEAL: {"status":"fixed","summary":"…"}`, or a line that consists of the words
 * `Fix applied successfully`. Returns null for any other line. The prompt's own explanation of the signal is not valid JSON, so an agent that
 * repeats its prompt claims nothing.
 */
export function readClaim(line: string): AgentClaim | null {
  const json = jsonIn(line);
  if (json !== undefined) return claimShape.safeParse(jsonOf(json)).data ?? null;
  return /^\W*Fix applied successfully\W*$/i.test(line) ? { status: 'fixed', summary: '' } : null;
}

function jsonIn(line: string): string | undefined {
  return /^\W*SELF-HEAL:\s*(\{.*\})\W*$/.exec(line)?.[1];
}

const opinionShape = z.object({
  verdict: z.enum(opinionVerdicts),
  file: z.string().nullish(),
  line: z.int().positive().nullish(),
  why: z.string().regex(/\S/),
});

/** Parses a line of output as an opinion about a fix (HN-11). Returns null for any other line. */
function readOpinion(line: string): Opinion | null {
  const json = jsonIn(line);
  if (json === undefined) return null;
  const { success, data } = opinionShape.safeParse(jsonOf(json));
  return success ? { ...data, file: data.file ?? null, line: data.line ?? null } : null;
}

/** Returns the last completion signal (AG-3), and the last opinion, in a message of several lines. */
export function answersIn(text: string): { readonly claim: AgentClaim | null; readonly opinion?: Opinion } {
  const lines = text.split('\n').toReversed();
  const last = <T>(read: (line: string) => T | null) =>
    lines.reduce<T | null>((answer, line) => answer ?? read(line), null);
  const opinion = last(readOpinion);
  return { claim: last(readClaim), ...(opinion ? { opinion } : {}) };
}
