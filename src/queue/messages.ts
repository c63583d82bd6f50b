import { z } from 'zod';
import { verifyLevels } from '../core/settings.js';
import { collectedSchema } from '../shards/collected.js';
import { attemptShape, blameShape, fixShape, triesShape } from './attempt-shape.js';
import { sentEdit } from './sent-edits.js';

const text = z.string();
const count = z.int().min(0);

/** An attempt with the text of its patch, which its own machine keeps as a file. */
const sentAttempt = z.object({ attempt: attemptShape, patch: text.nullable() });
export type SentAttempt = z.infer<typeof sentAttempt>;

/** A failure as a shard records it, with its picture. */
const sentFailure = z.object({
  /** A `failure.json`; checked when it is read as one. */
  record: z.record(text, z.unknown()),
  picture: z.object({ name: z.string().regex(/^screenshot\.\w+$/), bytes: z.base64() }).nullable(),
});
export type SentFailure = z.infer<typeof sentFailure>;

/** A cause that a worker is to heal, as it reads it from the queue: what a shard leaves of it, and what the coordinator knows. */
export const causeJob = z.object({
  schemaVersion: z.literal(1),
  /** The coordinator's run and its cause, under which attempts are kept. */
  runId: text,
  causeId: z.string().regex(/^c\d+$/),
  collected: collectedSchema,
  /** The leading one first. */
  failures: z.array(sentFailure).min(1),
  blame: blameShape.nullable(),
  /** What was tried in this run; the last did not join what others had fixed meanwhile. */
  previous: z.array(sentAttempt),
  tries: triesShape,
  tried: z.array(attemptShape).readonly(),
  fix: fixShape.nullable(),
  guidance: text.nullable(),
  /** What the run had taken when it was sent, in milliseconds. */
  elapsedMs: z.number().min(0),
  /** Agents that its tests have seen. */
  agentRunsOnTest: count,
  limits: z.object({ agentRuns: count, costUsd: z.number().min(0), timeMs: z.number().min(0) }),
  verify: z.object({ level: z.enum(verifyLevels), confirm: count, repeat: count, flips: count }),
  /** How the coordinator's tree differs from the commit: the fixes that it has kept. */
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

/** What came of it, as the coordinator reads it from the queue. `worker` is its machine and process. */
export const jobResult = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('tried'),
    worker: text,
    attempts: z.array(sentAttempt),
    /** The last attempt in the store, where it is not finished there: its patch is still to be joined. */
    attemptId: text.nullable(),
    /** What the last one changed, proven where it was made; null where nothing held. */
    edits: z.array(sentEdit).nullable(),
    conclusion: z.object({ verdict: z.enum(verdicts), reason: text }),
  }),
  /** It could not be healed there at all. */
  z.object({ kind: z.literal('refused'), worker: text, reason: text }),
]);
export type JobResult = z.infer<typeof jobResult>;
