import { z } from 'zod';
import { type Attempt, sides } from './core/attempt.js';
import { avoidedReasons } from './core/avoided.js';
import type { Blame } from './core/blame.js';
import { categories, evidenceSources } from './core/diagnosis.js';
import type { TestRef } from './core/failure.js';
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

const test: z.ZodType<TestRef> = z.looseObject({
  id: z.string(),
  titlePath: texts,
  location: z.looseObject({ file: z.string(), line: z.number(), column: z.number() }),
  project: z.string(),
});

const cause: z.ZodType<CauseSummary> = z.looseObject({
  id: z.string(),
  signature: z.string(),
  category,
  alternatives: z.array(category),
  why: z.array(
    z.looseObject({
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
  z.looseObject({
    id: z.string(),
    proof,
    ended: z.enum(['proven', 'green', 'flaky', 'unsteady', 'red']),
  }),
);

const place = { file: z.string(), line: z.number().nullable(), says: z.string() };
const violations = z.array(
  z.looseObject({ ...place, rule: z.string(), before: textOrNull, after: textOrNull }),
);

const cut = z.array(z.looseObject({ file: z.string(), why: z.string() }));

const file = z.looseObject({ path: z.string(), added: countOrNull, removed: countOrNull });

const outcome = wordOf(agentOutcomeWords);

/** One attempt, as the events and the store keep it. */
export const attemptShape: z.ZodType<Attempt> = z.looseObject({
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
  notes: z.array(z.looseObject({ ...place, locator: z.string().exactOptional() })).exactOptional(),
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
const askedShape: z.ZodType<RunAsked> = z.looseObject({
  filters: texts,
  passThrough: texts,
  options: z.looseObject({}),
});

const blame: z.ZodType<Blame> = z.looseObject({
  base: z.looseObject({
    commit: z.string(),
    from: z.enum(['last-green', 'merge-base', 'head', 'recent', 'named']),
  }),
  hunks: z.array(
    z.looseObject({
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
  rest: z.array(z.looseObject({ file: z.string(), old: texts, now: texts })),
  isMinimal: z.boolean(),
  endedBy: z.enum(['time', 'interrupt']).nullable(),
  outOf: count,
  runs: count,
  unresolved: count,
  durationMs: count,
  change: changeId,
});

/** A test with its status. */
export const seenShape: z.ZodType<SeenTest> = z.looseObject({
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
 * What each event must contain for the run state to be built. A run's folder may come from anywhere, so nothing is taken for granted. The
 * types hold the shapes to the events; a field that no reader uses may be missing.
 */
const shapes: { readonly [T in Event['type']]: z.ZodType<Partial<Fields<T>>> } = {
  'run.started': z.looseObject({
    runId: runIdShape,
    project: z.string(),
    dryRun: z.boolean(),
    verify: z.enum(verifyLevels),
    shards: z.looseObject(shards).exactOptional(),
    request: askedShape.exactOptional(),
    resumedFrom: runIdShape.exactOptional(),
  }),
  'suite.started': z.looseObject({
    ...ofAny,
    purpose: wordOf(purposeWords),
    tests: countOrNull,
    n: count.exactOptional(),
    of: countOrNull.exactOptional(),
    likelyMs: countOrNull.exactOptional(),
  }),
  'suite.progress': z.looseObject({ done: count, total: count, test: z.string() }),
  'suite.ended': z.looseObject({
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
  'reports.read': z.looseObject(shards),
  'tests.seen': z.looseObject({ tests: z.array(seenShape) }),
  'tests.decided': z.looseObject({
    ids: texts,
    verdict: z.enum(verdicts),
    sharedFix: z.boolean().exactOptional(),
  }),
  'cause.found': z.looseObject({ cause }),
  'cause.narrowed': z.looseObject({ cause }),
  'cause.flaky': z.looseObject({ tests: z.array(test) }),
  'cause.started': z.looseObject(ofCause),
  'cause.blamed': z.looseObject({ ...ofCause, blame }),
  'blame.ended': z.looseObject({ ...ofAny, reason: z.string() }),
  'cause.came_back': z.looseObject(ofCause),
  'cause.ended': z.looseObject({
    ...ofCause,
    verdict,
    reason: z.string(),
    proof: proof.exactOptional(),
    testProofs: testProofs.exactOptional(),
  }),
  'tests.quarantined': z.looseObject({ tests: z.array(test) }),
  'fixer.proposed': z.looseObject({ ...ofAttempt, summary: z.string(), agent: z.string() }),
  'agent.started': z.looseObject({
    ...ofAttempt,
    slashCommand: z.string(),
    runner: z.string(),
    logFile: z.string(),
  }),
  'agent.activity': z.looseObject({ ...ofCause, text: z.string() }),
  'agent.ended': z.looseObject({ ...ofAttempt, outcome, durationMs: count, costUsd: countOrNull }),
  'agent.retrying': z.looseObject({ ...ofAttempt, delayMs: count, reason: z.string() }),
  'agent.waiting_for_input': z.looseObject({
    ...ofCause,
    question: z.string(),
    escalationId: textOrNull,
  }),
  'agent.escalation_resolved': z.looseObject({ escalationId: z.string() }),
  'agent.avoided': z.looseObject({ reason: z.enum(avoidedReasons), count }),
  'agent.build_paused': z.looseObject({}),
  'attempt.cut': z.looseObject({ ...ofAttempt, cut }),
  'attempt.rejected': z.looseObject({ ...ofAttempt, violations }),
  'attempt.held': z.looseObject({
    ...ofAttempt,
    agent: textOrNull,
    change: changeId.nullable(),
    error: textOrNull,
  }),
  'attempt.judged': z.looseObject({ ...ofCause, attempt: attemptShape }),
  'regression.ended': z.looseObject({
    tests: count,
    leftOut: count,
    broke: z.array(z.looseObject({ causeId: z.string(), tests: texts })),
  }),
  'run.undone': z.looseObject({ restored: texts, leftAlone: texts }),
  'run.warning': z.looseObject({ message: z.string() }),
  'run.stopped': z.looseObject({ message: z.string() }),
  'run.ended': z.looseObject({
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
  // Events of newer versions are passed on, and `reduce` ignores them.
  if (!Object.hasOwn(shapes, data.type)) return data as StampedEvent;
  return shapes[data.type as Event['type']].safeParse(data).success ? (data as StampedEvent) : null;
}
