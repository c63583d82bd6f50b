import { z } from 'zod';
import { agentErrors } from './agents/api-error.js';
import { attemptShape, exits, opinionShape } from './model/attempt.js';
import { blameShape } from './model/blame.js';
import { causeRecordShape } from './model/cause.js';
import { choices } from './model/choice.js';
import { earlierFixShape } from './model/earlier-runs.js';
import { testShape } from './model/failure.js';
import { countShape } from './model/failure-rate.js';
import { flakeShape } from './model/flake.js';
import { cutShape, violationShape } from './model/guard-findings.js';
import { proofShape, testProofShape } from './model/proof.js';
import { verifyLevels } from './model/settings.js';
import {
  count,
  countOrNull,
  listOf,
  ownId as id,
  runIdShape,
  textOrNull,
  textList,
  changeId,
} from './model/shape.js';
import { causeEndShape, outcomes, verdicts } from './model/verdict.js';
import { verificationShape } from './model/verification.js';
import { parseJson } from './parse-json.js';

const commandLineShape = z.object({
  filters: textList,
  passThrough: textList,
  /** By long name. Validated only when a patch of the run is proven again. */
  options: z.looseObject({}) as z.ZodType<object>,
});

/** The command line of a run: filters, arguments for Playwright, and options. */
export type CommandLine = z.infer<typeof commandLineShape>;

const listedTestShape = z.object({
  id: z.string(),
  title: textList,
  /** Relative to the project's root, with forward slashes. */
  file: z.string(),
  line: z.number(),
  project: z.string(),
  verdict: z.enum(verdicts),
  /** 0 if it did not run. */
  durationMs: count,
  /** The test's retries in the run that this one continues; absent if it continues none. */
  retries: count.exactOptional(),
  /** Set if a fix for another test healed it in that run (HL-6). */
  sharedFix: z.boolean().exactOptional(),
  /** The ids that re-run it, such as its whole serial group; absent if its own id is enough. */
  rerunIds: textList.exactOptional(),
});

/** A test of the selection, with its status in its first Playwright run. */
export type ListedTest = z.infer<typeof listedTestShape>;

const regressionShape = z.object({
  /** How many tests ran. */
  tests: count,
  /** How many tests did not run for lack of time. */
  leftOut: count,
  /** Fixes that broke green tests, with the ids of those tests. */
  broke: listOf(z.object({ causeId: id, tests: textList })),
});

/** The results of re-running tests that the fixes may have broken. */
export type RegressionResult = z.infer<typeof regressionShape>;

/** The purposes of a Playwright run. */
export const suitePurposes = [
  'first',
  'confirm',
  'blame',
  'retest',
  'proof',
  'shared-fix',
  'regression',
  'flaky',
] as const;

export type SuitePurpose = (typeof suitePurposes)[number];

const shards = { total: count, missing: listOf(z.number()) };
const ofCause = { causeId: id };
const ofAny = { causeId: id.nullable() };
const ofAttempt = { ...ofCause, attempt: count };
const ofTests = { tests: listOf(testShape) };
const ofSuite = { ...ofAny, purpose: z.enum(suitePurposes) };

/**
 * Everything that happens in a run, as one typed stream: reporters render it, and `events.ndjson` stores it. Start here to learn what
 * self-heal does. These shapes define the types and also validate stored events, because a run's folder may come from anywhere.
 */
const shapes = {
  'run.started': z.object({
    runId: runIdShape,
    project: z.string(),
    playwright: z.string(),
    dryRun: z.boolean(),
    /** The requested level of proof. */
    verify: z.enum(verifyLevels),
    /** The number of shards whose reports were read, and the numbers of the missing ones; absent if the suite runs here. */
    shards: z.object(shards).exactOptional(),
    /** If a person chooses a patch later, it is proven with this selection. */
    request: commandLineShape.exactOptional(),
  }),
  /** A Playwright run begins: the first one, a confirming one, or one after an attempt. */
  'suite.started': z.object({
    ...ofSuite,
    tests: countOrNull,
    /** How many of the tests the run is for; the others only run before them or in parallel. Absent if it is for all. */
    red: count.exactOptional(),
    /** The flaky test that this run measures; absent otherwise. */
    about: z.string().exactOptional(),
    /** The number of the Playwright run, from 1; absent if it ran elsewhere and only its reports were read. */
    n: count.exactOptional(),
    /** Expected duration in milliseconds; null if nothing has been measured yet. */
    estimateMs: countOrNull.exactOptional(),
  }),
  'suite.progress': z.object({ done: count, total: count, failed: count, test: z.string() }),
  'suite.ended': z.object({
    ...ofSuite,
    total: count,
    passed: count,
    failed: count,
    flaky: count,
    skipped: count,
    notRun: count,
    durationMs: count,
  }),
  /** Playwright reports of other runs replaced the first run (SC-1). */
  'reports.read': z.object(shards),
  /** A Playwright run included these tests for the first time. For the first run, this is the whole selection. */
  'tests.seen': z.object({ tests: listOf(listedTestShape) }),
  /** The final status of these tests, unless a later event changes it (HN-7); `sharedFix` if a fix for another test healed them. */
  'tests.decided': z.object({
    ids: textList,
    verdict: z.enum(verdicts),
    sharedFix: z.boolean().exactOptional(),
  }),
  /** These tests are red, and a person has quarantined them (ME-7). */
  'tests.quarantined': z.object(ofTests),
  'cause.found': z.object({ cause: causeRecordShape }),
  /** An earlier fix healed some of the cause's tests; the cause now has the rest (HL-6). */
  'cause.narrowed': z.object({ cause: causeRecordShape }),
  /** The same change broke `causeId` and this cause, which now has the tests of both (HL-6). */
  'cause.joined': z.object({ ...ofCause, cause: causeRecordShape }),
  'cause.flaky': z.object({ ...ofTests, ...ofAny }),
  /** Somebody edited these test files during the run (HN-3). */
  'tests.edited': z.object({ files: textList, change: changeId }),
  /** Experiments showed which condition makes a test flaky, and how often it then fails (FL-2). */
  'flake.found': z.object({ flake: flakeShape }),
  /** Under the condition that had made it red, a flaky test was now green often enough to prove its fix (FL-4). */
  'flake.passed': z.object({ test: testShape, green: countShape }),
  'cause.started': z.object(ofCause),
  /** Runs with changes reverted showed which change broke the cause's leading test (BL-1). */
  'cause.blamed': z.object({ ...ofCause, blame: blameShape }),
  /** A failure that an earlier run healed has come back. */
  'cause.came_back': z.object({ ...ofCause, fix: earlierFixShape }),
  'cause.ended': z.object({
    ...ofCause,
    ...causeEndShape.shape,
    attempts: count,
    costUsd: countOrNull,
    /** Set if another cause's fix healed it: none of its own attempts then has the proof. */
    proof: proofShape.exactOptional(),
    /** The proof of each of its tests, if there is more than one. */
    testProofs: listOf(testProofShape).exactOptional(),
  }),
  /** The search found no change to blame, for this reason; `causeId` is null if it applies to all causes. */
  'blame.ended': z.object({ ...ofAny, reason: z.string() }),
  /** The built-in fixer made a fix, or an agent's fix from a killed run is tried again. Both are judged like an agent's fix (BF-1). */
  'fixer.proposed': z.object({ ...ofAttempt, summary: z.string(), agent: z.string() }),
  'agent.started': z.object({
    ...ofAttempt,
    agent: z.string(),
    slashCommand: z.string(),
    runner: z.string(),
    timeoutMs: count,
    pid: countOrNull,
    /** Relative to the project. */
    logFile: z.string(),
    /** Set if the agent reviews the attempt's fix (HN-11). */
    isReview: z.literal(true).exactOptional(),
  }),
  /** The latest text or action of the agent, at most ten times a second. */
  'agent.activity': z.object({ ...ofCause, text: z.string() }),
  'agent.ended': z.object({
    ...ofAttempt,
    exit: z.enum(exits),
    durationMs: count,
    costUsd: countOrNull,
    /** The program's own error (AG-6), or null. */
    agentError: z.enum(agentErrors).nullable(),
    filesChanged: count,
    /** Processes that outlived the agent and that self-heal ended, as `pid command`. */
    orphans: textList,
    /** The agent's answer, if it reviewed the attempt's fix. */
    opinion: opinionShape.exactOptional(),
  }),
  /** Waiting before the next attempt (HL-4). */
  'agent.retrying': z.object({ ...ofAttempt, delayMs: count, reason: z.string() }),
  /** A question for a person; the run does not wait for the answer. The id is null if it could not be stored. */
  'agent.waiting_for_input': z.object({ ...ofCause, question: z.string(), escalationId: id.nullable() }),
  /** A person answered; written to the events of the run that asked. */
  'agent.escalation_resolved': z.object({
    escalationId: id,
    choice: z.enum(choices),
  }),
  /** Too many escalations are pending, so no further agent is started. */
  'agent.build_paused': z.object({ status: z.literal('escalation_threshold_exceeded') }),
  /** These files of the agent's change do not enter the project; the rest of the change is tried (HN-4). */
  'attempt.cut': z.object({ ...ofAttempt, cut: listOf(cutShape) }),
  /** The guard rejected an agent's change (HN-3). */
  'attempt.rejected': z.object({ ...ofAttempt, violations: listOf(violationShape) }),
  /**
   * The re-run after the fix was green or showed another error. The change stays until the proof decides (HN-5, HN-1), and a run that continues
   * this one begins with it. Emitted again when a note is added.
   */
  'attempt.held': z.object({ ...ofCause, attempt: attemptShape }),
  'attempt.judged': z.object({ ...ofCause, attempt: attemptShape }),
  /** Tests that the kept fixes may have broken ran once more; fixes that broke any of them were reverted (HN-6). */
  'regression.ended': regressionShape,
  /** The verdict of `self-heal verify` on the changes in the working tree (HN-12). */
  'change.verified': z.object({ verification: verificationShape }),
  /** A person undid the changes of the run; `leftAlone` lists files that were not restored because they had changed again. */
  'run.undone': z.object({ restored: textList, leftAlone: textList }),
  /** The run continues, but the user should know. */
  'run.warning': z.object({ message: z.string() }),
  /** The run cannot continue, for example because its browser is not installed; no `run.ended` follows. */
  'run.stopped': z.object({ message: z.string() }),
  'run.ended': z.object({
    outcome: z.enum(outcomes),
    exitCode: count,
    durationMs: count,
    agentRuns: count,
    costUsd: countOrNull,
    /** The commit it ran on; null if there were uncommitted changes. */
    commit: textOrNull,
  }),
};

type Shapes = typeof shapes;

/** Something that happened in a run. */
export type Event = { [T in keyof Shapes]: { type: T } & z.infer<Shapes[T]> }[keyof Shapes];

/** An event with its time in milliseconds since the epoch, which the bus adds. */
export type StampedEvent = Event & { time: number };

/** The event with this type. */
export type EventOf<T extends Event['type']> = Extract<StampedEvent, { type: T }>;

/** The last millisecond that a `Date` can have. */
const END_OF_TIME = 8.64e15;

const stamped = z.looseObject({ time: count.max(END_OF_TIME), type: z.string() });

/** Parses a line of `events.ndjson`; returns null for anything that is not an event, such as the cut last line of a killed run. */
export function parseEvent(line: string): StampedEvent | null {
  const { success, data } = stamped.safeParse(parseJson(line));
  if (!success) return null;
  const { time, type } = data;
  // A newer version wrote this event. `reduce` ignores it, so its fields do not matter.
  if (!Object.hasOwn(shapes, type)) return { time, type } as StampedEvent;
  const fields = shapes[type as Event['type']].safeParse(data);
  return fields.success ? ({ time, type, ...fields.data } as StampedEvent) : null;
}
