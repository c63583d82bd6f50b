import { z } from 'zod';
import { type Attempt, sides } from './core/attempt.js';
import { avoidedReasons } from './core/avoided.js';
import type { Blame } from './core/blame.js';
import { categories, evidenceSources } from './core/diagnosis.js';
import { type Choice, choiceText } from './core/escalation.js';
import type { TestRef } from './core/failure.js';
import type { EarlierFix } from './core/remembered.js';
import type { Offer } from './core/escalation.js';
import { verifyLevels } from './core/settings.js';
import { verdicts } from './core/verdict.js';
import type { CauseSummary, Event, RunAsked, SeenTest, StampedEvent } from './event.js';
import { jsonOf } from './json-of.js';
import {
  agentOutcomeWords,
  judgementWords,
  outcomeWords,
  purposeWords,
  verdictWords,
} from './outputs/wording.js';

/** The words that a table has texts for. */
const wordOf = <W extends string>(words: Readonly<Record<W, unknown>>) =>
  z.enum(Object.keys(words) as [W, ...W[]]);
const texts = z.array(z.string());
const textOrNull = z.string().nullable();
const count = z.number().min(0);
const countOrNull = count.nullable();
const verdict = wordOf(verdictWords);
const category = z.enum(categories);

/** The id of a run, with which its folder is found. */
export const runIdShape = z.string().regex(/^[\w-]+$/);

/** The number of a change within its run. */
const changeId = z.string().regex(/^\d+$/);

/** A file that belongs to an attempt of this run, or, if it names a run, of an earlier one. */
const attemptFile = (ending: string) =>
  z.string().regex(new RegExp(String.raw`^(?:\.\./[\w-]+/)?attempts/\d+\.${ending}$`));

const test: z.ZodType<TestRef> = z.object({
  id: z.string(),
  titlePath: texts,
  location: z.object({ file: z.string(), line: z.number(), column: z.number() }),
  project: z.string(),
});

const cause: z.ZodType<CauseSummary> = z.object({
  id: z.string(),
  signature: z.string(),
  category,
  alternatives: z.array(category),
  why: z.array(
    z.object({
      rule: z.string(),
      category,
      source: z.enum(evidenceSources),
      evidence: z.string(),
      confidence: z.number(),
    }),
  ),
  confidence: z.number(),
  tests: z.array(test),
  headline: z.string(),
  source: textOrNull,
  parent: textOrNull,
  warning: textOrNull,
  evidence: z.string().regex(/^failures\/\d+$/),
});

const proof = z.array(z.enum(['red', 'green']));
const testProofs = z.array(
  z.object({
    id: z.string(),
    proof,
    ended: z.enum(['proven', 'green', 'flaky', 'unsteady', 'red']),
  }),
);

const place = { file: z.string(), line: z.number().nullable(), says: z.string() };
const violations = z.array(z.object({ ...place, rule: z.string(), before: textOrNull, after: textOrNull }));

const cut = z.array(z.object({ file: z.string(), why: z.string() }));

const file = z.object({ path: z.string(), added: countOrNull, removed: countOrNull });

const earlierFix: z.ZodType<EarlierFix> = z.object({
  runId: z.string(),
  healedAt: z.string(),
  agent: textOrNull,
  summary: textOrNull,
  files: z.array(file),
  patch: textOrNull,
  times: count,
});

const outcome = wordOf(agentOutcomeWords);

/** One attempt, as the events and the store keep it. */
export const attemptShape: z.ZodType<Attempt> = z.object({
  n: count,
  agent: textOrNull,
  slashCommand: textOrNull,
  runner: textOrNull,
  outcome,
  claim: z
    .looseObject({ status: z.enum(['fixed', 'not-fixed', 'needs-person']), summary: z.string() })
    .nullable(),
  usage: z
    .looseObject({
      costUsd: countOrNull,
      inputTokens: countOrNull,
      outputTokens: countOrNull,
      turns: countOrNull,
      sessionId: textOrNull,
    })
    .nullable(),
  judged: wordOf(judgementWords),
  durationMs: count,
  files: z.array(file),
  patch: attemptFile('patch').nullable(),
  prompt: attemptFile('prompt.md').nullable(),
  change: changeId.nullable(),
  proof,
  testProofs: testProofs.exactOptional(),
  reverted: z.boolean(),
  offers: z.enum(sides).exactOptional(),
  failedBecause: textOrNull,
  cut: cut.exactOptional(),
  violations: violations.exactOptional(),
  notes: z.array(z.object({ ...place, locator: z.string().exactOptional() })).exactOptional(),
});

/** A patch that waits for a person, as the store keeps it with its question. */
export const offerShape: z.ZodType<Offer> = z.object({
  side: z.enum(sides),
  agent: z.string(),
  change: changeId,
  files: z.array(file),
  patch: attemptFile('patch').nullable(),
  proof,
});

/** A run as typed. Its options are checked when it is resumed. */
const askedShape: z.ZodType<RunAsked> = z.object({
  filters: texts,
  passThrough: texts,
  options: z.looseObject({}),
});

const blame: z.ZodType<Blame> = z.object({
  base: z.object({
    commit: z.string(),
    from: z.enum(['last-green', 'merge-base', 'head', 'recent', 'named']),
  }),
  hunks: z.array(
    z.object({
      file: z.string(),
      line: count,
      old: texts,
      now: texts,
      whole: z.boolean(),
      commit: z
        .looseObject({ id: z.string(), author: z.string(), date: z.string(), subject: z.string() })
        .nullable(),
      inTests: z.boolean(),
    }),
  ),
  rest: z.array(z.object({ file: z.string(), old: texts, now: texts })),
  isMinimal: z.boolean(),
  endedBy: z.enum(['time', 'interrupt']).nullable(),
  outOf: count,
  runs: count,
  unresolved: count,
  durationMs: count,
  change: changeId,
});

/** A test with its status. */
export const seenShape: z.ZodType<SeenTest> = z.object({
  id: z.string(),
  title: texts,
  file: z.string(),
  line: z.number(),
  project: z.string(),
  verdict: z.enum(verdicts),
  durationMs: count,
  retries: count.exactOptional(),
  sharedFix: z.boolean().exactOptional(),
});
const shards = { total: count, missing: z.array(z.number()) };

const ofCause = { causeId: z.string() };
const ofAny = { causeId: textOrNull };
const ofAttempt = { ...ofCause, attempt: count };

/** The fields of an event. */
type Fields<T extends Event['type']> = Omit<Extract<Event, { type: T }>, 'type'>;

/**
 * What each event must contain for the run state to be built. A run's folder may come from anywhere, so nothing is taken for granted, and what
 * no shape names is not read. The types hold the shapes to the events; a field that no reader needs may be missing.
 */
const shapes: { readonly [T in Event['type']]: z.ZodType<Partial<Fields<T>>> } = {
  'run.started': z.object({
    runId: runIdShape,
    project: z.string(),
    playwright: z.string().exactOptional(),
    dryRun: z.boolean(),
    verify: z.enum(verifyLevels),
    shards: z.object(shards).exactOptional(),
    request: askedShape.exactOptional(),
    resumedFrom: runIdShape.exactOptional(),
  }),
  'suite.started': z.object({
    ...ofAny,
    purpose: wordOf(purposeWords),
    tests: countOrNull,
    n: count.exactOptional(),
    of: countOrNull.exactOptional(),
    likelyMs: countOrNull.exactOptional(),
  }),
  'suite.progress': z.object({
    done: count,
    total: count,
    failed: count.exactOptional(),
    test: z.string(),
  }),
  'suite.ended': z.object({
    ...ofAny,
    purpose: wordOf(purposeWords),
    total: count,
    passed: count,
    failed: count,
    flaky: count,
    skipped: count.exactOptional(),
    notRun: count,
    durationMs: count.exactOptional(),
  }),
  'reports.read': z.object(shards),
  'tests.seen': z.object({ tests: z.array(seenShape) }),
  'tests.decided': z.object({
    ids: texts,
    verdict: z.enum(verdicts),
    sharedFix: z.boolean().exactOptional(),
  }),
  'cause.found': z.object({ cause }),
  'cause.narrowed': z.object({ cause }),
  'cause.flaky': z.object({ tests: z.array(test) }),
  'cause.started': z.object(ofCause),
  'cause.blamed': z.object({ ...ofCause, blame }),
  'blame.ended': z.object({ ...ofAny, reason: z.string() }),
  'cause.came_back': z.object({ ...ofCause, fix: earlierFix.exactOptional() }),
  'cause.ended': z.object({
    ...ofCause,
    verdict,
    reason: z.string(),
    proof: proof.exactOptional(),
    testProofs: testProofs.exactOptional(),
    attempts: count.exactOptional(),
    costUsd: countOrNull.exactOptional(),
  }),
  'tests.quarantined': z.object({ tests: z.array(test) }),
  'fixer.proposed': z.object({ ...ofAttempt, summary: z.string(), agent: z.string() }),
  'agent.started': z.object({
    ...ofAttempt,
    slashCommand: z.string(),
    runner: z.string(),
    logFile: z.string(),
    agent: z.string().exactOptional(),
    timeoutMs: count.exactOptional(),
    pid: countOrNull.exactOptional(),
  }),
  'agent.activity': z.object({ ...ofCause, text: z.string() }),
  'agent.ended': z.object({
    ...ofAttempt,
    outcome,
    durationMs: count,
    costUsd: countOrNull,
    agentError: z
      .enum(['retryable', 'context_overflow', 'fatal', 'timeout', 'aborted'])
      .nullable()
      .exactOptional(),
    filesChanged: count.exactOptional(),
    orphans: texts.exactOptional(),
  }),
  'agent.retrying': z.object({ ...ofAttempt, delayMs: count, reason: z.string() }),
  'agent.waiting_for_input': z.object({
    ...ofCause,
    question: z.string(),
    escalationId: textOrNull,
  }),
  'agent.escalation_resolved': z.object({
    escalationId: z.string(),
    choice: z.enum(Object.keys(choiceText) as [Choice, ...Choice[]]).exactOptional(),
  }),
  'agent.avoided': z.object({ reason: z.enum(avoidedReasons), count }),
  'agent.build_paused': z.object({ status: z.literal('escalation_threshold_exceeded').exactOptional() }),
  'attempt.cut': z.object({ ...ofAttempt, cut }),
  'attempt.rejected': z.object({ ...ofAttempt, violations }),
  'attempt.held': z.object({
    ...ofAttempt,
    agent: textOrNull,
    change: changeId.nullable(),
    error: textOrNull,
  }),
  'attempt.judged': z.object({ ...ofCause, attempt: attemptShape }),
  'regression.ended': z.object({
    tests: count,
    leftOut: count,
    broke: z.array(z.object({ causeId: z.string(), tests: texts })),
  }),
  'run.undone': z.object({ restored: texts, leftAlone: texts }),
  'run.warning': z.object({ message: z.string() }),
  'run.stopped': z.object({ message: z.string() }),
  'run.ended': z.object({
    outcome: wordOf(outcomeWords),
    exitCode: count,
    durationMs: count,
    agentRuns: count,
    agentRunsAvoided: count,
    costUsd: countOrNull,
    commit: textOrNull,
  }),
};

/** The last millisecond that a `Date` can have. */
const END_OF_TIME = 8.64e15;

const stamped = z.looseObject({ time: count.max(END_OF_TIME), type: z.string() });

/** Parses a line of `events.ndjson`; returns null for the torn last line of a killed run, and for anything else that is not an event. */
export function eventIn(line: string): StampedEvent | null {
  const { success, data } = stamped.safeParse(jsonOf(line));
  if (!success) return null;
  const { time, type } = data;
  // Of an event of a newer version, which `reduce` ignores, nothing is known.
  if (!Object.hasOwn(shapes, type)) return { time, type } as StampedEvent;
  const fields = shapes[type as Event['type']].safeParse(data);
  return fields.success ? ({ time, type, ...fields.data } as StampedEvent) : null;
}
