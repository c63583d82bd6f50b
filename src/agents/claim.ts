import { z } from 'zod';
import { type AgentClaim, type Opinion, opinionVerdicts } from '../model/attempt.js';
import { parseJson } from '../parse-json.js';

const claimShape = z.object({
  status: z.enum(['fixed', 'not-fixed', 'needs-person']),
  summary: z.string().catch(''),
});

/**
 * Parses a line of output as a completion signal (AG-3): `SELF-HEAL: {"status":"fixed","summary":"…"}`, or a line that consists of the words
 * `Fix applied successfully`. Returns null for any other line. The prompt's own explanation of the signal is not valid JSON, so an agent that
 * repeats its prompt sends no signal.
 */
export function parseClaim(line: string): AgentClaim | null {
  const json = /^\W*SELF-HEAL:\s*(\{.*\})\W*$/.exec(line)?.[1];
  if (json !== undefined) return claimShape.safeParse(parseJson(json)).data ?? null;
  return /^\W*Fix applied successfully\W*$/i.test(line) ? { status: 'fixed', summary: '' } : null;
}

/** Only the verdict `honest` needs no reason. */
const opinionShape = z
  .object({
    verdict: z.enum(opinionVerdicts),
    file: z.string().nullish(),
    line: z.int().positive().nullish(),
    why: z.string().default(''),
  })
  .refine(({ verdict, why }) => verdict === 'honest' || /\S/.test(why));

/**
 * Returns the last opinion in a text (HN-11), as `SELF-HEAL 3f9a1c: {"verdict":"honest"}`. `token` occurs only in the reviewer's own
 * prompt, so no line of a file, a page or the fix itself can pass for the answer.
 */
export function findOpinion(text: string, token: string): Opinion | null {
  const answerLine = new RegExp(String.raw`^\W*SELF-HEAL ${token}:\s*(\{.*\})\W*$`);
  const opinions = text.split('\n').flatMap((line) => {
    const json = answerLine.exec(line)?.[1];
    const opinion = json === undefined ? undefined : opinionShape.safeParse(parseJson(json)).data;
    return opinion ? [{ ...opinion, file: opinion.file ?? null, line: opinion.line ?? null }] : [];
  });
  return opinions.at(-1) ?? null;
}

/** Returns the last completion signal (AG-3) in a message of several lines. */
export function findClaim(text: string): AgentClaim | null {
  return text.split('\n').reduceRight<AgentClaim | null>((claim, line) => claim ?? parseClaim(line), null);
}
