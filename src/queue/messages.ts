import { z } from 'zod';
import { verifyLevels } from '../core/settings.js';
import { collectedSchema } from '../shards/collected.js';
import { attemptShape, blameShape, fixShape, triesShape } from './attempt-shape.js';
import { sentEdit } from './sent-edits.js';

const text = z.string();
const count = z.int().min(0);

/** An attempt with the text of its patch, which the attempt itself only names as a file on its own machine. */
const sentAttempt = z.object({ attempt: attemptShape, patch: text.nullable() });
export type SentAttempt = z.infer<typeof sentAttempt>;

/** A failure as a shard records it, with its screenshot. */
const sentFailure = z.object({
  /** A `failure.json`, validated when it is read as one. */
  record: z.record(text, z.unknown()),
  picture: z.object({ name: z.string().regex(/^screenshot\.\w+$/), bytes: z.base64() }).nullable(),
});
export type SentFailure = z.infer<typeof sentFailure>;

/** A cause for a worker to heal, as read from the queue: what a shard leaves, plus what the coordinator knows. */
export const causeJob = z.object({
  schemaVersion: z.literal(1),
  /** The coordinator's run and cause, under which attempts are stored. */
  runId: text,
  causeId: z.string().regex(/^c\d+$/),
  collected: collectedSchema,
  /** The leading failure comes first. */
  failures: z.array(sentFailure).min(1),
  blame: blameShape.nullable(),
  /** The attempts in this run. The last one's patch could not be joined with fixes that others had made meanwhile. */
  previous: z.array(sentAttempt),
  tries: triesShape,
  tried: z.array(attemptShape).readonly(),
  fix: fixShape.nullable(),
  guidance: text.nullable(),
  /** How long the run had taken when the cause was sent, in milliseconds. */
  elapsedMs: z.number().min(0),
  /** How many agents have worked on its tests. */
  agentRunsOnTest: count,
  limits: z.object({ agentRuns: count, costUsd: z.number().min(0), timeMs: z.number().min(0) }),
  verify: z.object({ level: z.enum(verifyLevels), confirm: count, repeat: count, flips: count }),
  /** How the coordinator's tree differs from the commit: the fixes kept so far. */
  base: z.array(sentEdit).readonly(),
});
export type CauseJob = z.infer<typeof causeJob>;

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

/** The result of a cause, as the coordinator reads it from the queue. `worker` names its machine and process. */
export const jobResult = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('tried'),
    worker: text,
    attempts: z.array(sentAttempt),
    /** The id of the last attempt in the store if it is not finished there, because its patch is still to be joined. */
    attemptId: text.nullable(),
    /** The last attempt's changes, proven where they were made; null if nothing held. */
    edits: z.array(sentEdit).nullable(),
    end: z.object({ verdict: z.enum(verdicts), reason: text }),
  }),
  /** The worker could not heal the cause at all. */
  z.object({ kind: z.literal('refused'), worker: text, reason: text }),
]);
export type JobResult = z.infer<typeof jobResult>;
