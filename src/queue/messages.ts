import { z } from 'zod';
import type { Attempt } from '../core/attempt.js';
import type { Blame } from '../core/blame.js';
import type { Conclusion } from '../core/policy.js';
import type { EarlierFix, EarlierTries } from '../core/remembered.js';
import { verifyLevels, type Settings } from '../core/settings.js';
import { type Collected, collectedSchema } from '../shards/collected.js';
import { attemptShape, blameShape, fixShape, triesShape } from './attempt-shape.js';
import { type SentEdit, sentEdit } from './sent-edits.js';

/** An attempt with its texts, which its own machine keeps as files. */
export interface SentAttempt {
  readonly attempt: Attempt;
  readonly patch: string | null;
}

/** A failure as a shard records it, with its picture. */
export interface SentFailure {
  /** A `failure.json`; checked when it is read as one. */
  readonly record: Readonly<Record<string, unknown>>;
  readonly picture: { readonly name: string; readonly bytes: string } | null;
}

/** A cause that a worker is to heal: what a shard leaves of it, and what the coordinator knows. */
export interface CauseJob {
  readonly schemaVersion: 1;
  /** The coordinator's run and its cause, under which attempts are kept. */
  readonly runId: string;
  readonly causeId: string;
  readonly collected: Collected;
  /** The leading one first. */
  readonly failures: readonly SentFailure[];
  readonly blame: Blame | null;
  /** What was tried in this run; the last did not join what others had fixed meanwhile. */
  readonly previous: readonly SentAttempt[];
  readonly tries: EarlierTries;
  readonly tried: readonly Attempt[];
  readonly fix: EarlierFix | null;
  readonly guidance: string | null;
  /** What the run had taken when it was sent, in milliseconds. */
  readonly elapsedMs: number;
  /** Agents that its tests have seen. */
  readonly agentRunsOnTest: number;
  readonly limits: Pick<Settings['limits'], 'agentRuns' | 'costUsd' | 'timeMs'>;
  readonly verify: Pick<Settings['verify'], 'level' | 'confirm' | 'repeat' | 'flips'>;
  /** How the coordinator's tree differs from the commit: the fixes that it has kept. */
  readonly base: readonly SentEdit[];
}

const text = z.string();
const count = z.int().min(0);
const sentAttempt = z.object({ attempt: attemptShape, patch: text.nullable() });

/** What a worker reads from the queue. */
export const causeJob: z.ZodType<CauseJob> = z.object({
  schemaVersion: z.literal(1),
  runId: text,
  causeId: z.string().regex(/^c\d+$/),
  collected: collectedSchema,
  failures: z
    .array(
      z.object({
        record: z.record(text, z.unknown()),
        picture: z.object({ name: z.string().regex(/^screenshot\.\w+$/), bytes: z.base64() }).nullable(),
      }),
    )
    .min(1),
  blame: blameShape.nullable(),
  previous: z.array(sentAttempt),
  tries: triesShape,
  tried: z.array(attemptShape),
  fix: fixShape.nullable(),
  guidance: text.nullable(),
  elapsedMs: z.number().min(0),
  agentRunsOnTest: count,
  limits: z.object({ agentRuns: count, costUsd: z.number().min(0), timeMs: z.number().min(0) }),
  verify: z.object({ level: z.enum(verifyLevels), confirm: count, repeat: count, flips: count }),
  base: z.array(sentEdit),
});

/** What came of it. */
export type JobResult =
  | {
      readonly kind: 'tried';
      /** Machine and process. */
      readonly worker: string;
      readonly attempts: readonly SentAttempt[];
      /** The last attempt in the store, where it is not finished there: its patch is still to be joined. */
      readonly attemptId: string | null;
      /** What the last one changed, proven where it was made; null where nothing held. */
      readonly edits: readonly SentEdit[] | null;
      readonly conclusion: Conclusion | { readonly verdict: 'escalated'; readonly reason: string };
    }
  /** It could not be healed there at all. */
  | { readonly kind: 'refused'; readonly worker: string; readonly reason: string };

const verdicts = [
  'healed',
  'failed',
  'flaky',
  'agent-unusable',
  'rejected',
  'superseded',
  'budget',
  'interrupted',
  'escalated',
] as const;

/** What a coordinator reads from the queue. */
export const jobResult: z.ZodType<JobResult> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('tried'),
    worker: text,
    attempts: z.array(sentAttempt),
    attemptId: text.nullable(),
    edits: z.array(sentEdit).nullable(),
    conclusion: z.object({ verdict: z.enum(verdicts), reason: text }),
  }),
  z.object({ kind: z.literal('refused'), worker: text, reason: text }),
]);
