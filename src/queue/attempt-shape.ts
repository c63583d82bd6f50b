import { z } from 'zod';
import type { Attempt } from '../core/attempt.js';
import type { EarlierFix, EarlierTries } from '../core/remembered.js';
import type { Blame } from '../core/blame.js';

const text = z.string();
const known = text.nullable();
const amount = z.number().nullable();
const count = z.int().min(0);

const files = z.array(z.object({ path: text, added: amount, removed: amount }));
const steps = z.array(z.enum(['red', 'green']));

/** The schema of an attempt made on another machine. */
export const attemptShape: z.ZodType<Attempt> = z.object({
  n: count,
  agent: known,
  slashCommand: known,
  runner: known,
  outcome: z.enum([
    'completed',
    'exited',
    'signalled',
    'timed-out',
    'spawn-failed',
    'aborted',
    'limited',
    'unusable',
    'unchanged',
    'denied',
    'no-agent',
  ]),
  claim: z.object({ status: z.enum(['fixed', 'not-fixed', 'needs-person']), summary: text }).nullable(),
  usage: z
    .object({
      costUsd: amount,
      inputTokens: amount,
      outputTokens: amount,
      turns: amount,
      sessionId: known,
    })
    .nullable(),
  judged: z.enum([
    'still-failing',
    'changed',
    'green',
    'flaky',
    'vanished',
    'rejected',
    'conflict',
    'not-judged',
  ]),
  durationMs: z.number(),
  files,
  patch: known,
  prompt: known,
  change: z.string().regex(/^\d+$/).nullable(),
  proof: steps,
  testProofs: z
    .array(
      z.object({
        id: text,
        proof: steps,
        ended: z.enum(['proven', 'run-once', 'flaky', 'unsteady', 'red']),
      }),
    )
    .exactOptional(),
  reverted: z.boolean(),
  failedBecause: known,
  violations: z
    .array(z.object({ rule: text, file: text, line: amount, before: known, after: known, says: text }))
    .exactOptional(),
  notes: z
    .array(z.object({ file: text, line: amount, says: text, locator: text.exactOptional() }))
    .exactOptional(),
});

/** The schema of the counts from earlier runs. */
export const triesShape: z.ZodType<EarlierTries> = z.object({ count, failedFixes: count });

/** The schema of a fix from an earlier run. */
export const fixShape: z.ZodType<EarlierFix> = z.object({
  runId: text,
  healedAt: text,
  agent: known,
  summary: known,
  files,
  patch: known,
  times: count,
});

const hunk = z.object({
  file: text,
  old: z.array(text),
  now: z.array(text),
  line: count,
  whole: z.boolean(),
  commit: z.object({ id: text, author: text, date: text, subject: text }).nullable(),
  inTests: z.boolean(),
});

/** The schema of the change that broke a test. */
export const blameShape: z.ZodType<Blame> = z.object({
  base: z.object({ commit: text, from: z.enum(['last-green', 'merge-base', 'head', 'named']) }),
  hunks: z.array(hunk),
  isMinimal: z.boolean(),
  endedBy: z.enum(['runs', 'time', 'interrupt']).nullable(),
  outOf: count,
  runs: count,
  unresolved: count,
  durationMs: z.number(),
  change: text,
});
