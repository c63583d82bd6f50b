import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Event, StampedEvent } from '../event.js';
import { jsonOf } from '../json-of.js';
import { judgementWords, outcomeWords, purposeWords, verdictWords } from '../outputs/wording.js';
import { runOf } from './reduce.js';
import type { RunState } from './run-state.js';
import { eventsFile } from './write-events.js';

const wordOf = (words: object) => z.enum(Object.keys(words));
const purpose = wordOf(purposeWords);
const texts = z.array(z.string());
const test = z.looseObject({
  id: z.string(),
  titlePath: texts,
  location: z.looseObject({ file: z.string(), line: z.number() }),
  project: z.string(),
});
const cause = z.looseObject({
  id: z.string(),
  signature: z.string(),
  category: z.string(),
  alternatives: texts,
  why: z.array(z.looseObject({ source: z.string(), evidence: z.string() })),
  confidence: z.number(),
  tests: z.array(test),
  headline: z.string(),
  source: z.string().nullable(),
  evidence: z.string(),
});
const attempt = z.looseObject({
  n: z.number(),
  judged: wordOf(judgementWords),
  reverted: z.boolean(),
  change: z.string().nullable(),
  files: z.array(z.looseObject({ path: z.string() })),
  proof: texts,
  durationMs: z.number(),
});
const asked = z.looseObject({ filters: texts, passThrough: texts, options: z.looseObject({}) });

const blame = z.looseObject({
  base: z.looseObject({ commit: z.string() }),
  isMinimal: z.boolean(),
  runs: z.number(),
  hunks: z.array(
    z.looseObject({
      file: z.string(),
      line: z.number(),
      old: texts,
      now: texts,
      commit: z.looseObject({ id: z.string() }).nullable(),
    }),
  ),
});

const seen = z.looseObject({
  id: z.string(),
  title: texts,
  file: z.string(),
  line: z.number(),
  project: z.string(),
  verdict: wordOf(verdictWords),
  durationMs: z.number(),
  retries: z.number().optional(),
  sharedFix: z.boolean().optional(),
});
const shards = { total: z.number(), missing: z.array(z.number()) };

const ofCause = { causeId: z.string() };
const ofAny = { causeId: z.string().nullable() };
const ofAttempt = { ...ofCause, attempt: z.number() };

/**
 * What each event must contain for the run state to be built. A run's folder may come from anywhere, so nothing is taken for granted.
 */
const shapes: { readonly [T in Event['type']]: z.ZodRawShape } = {
  'run.started': {
    runId: z.string(),
    project: z.string(),
    dryRun: z.boolean(),
    verify: z.string(),
    shards: z.looseObject(shards).optional(),
    request: asked.optional(),
    resumedFrom: z.string().optional(),
  },
  'suite.started': { ...ofAny, purpose, tests: z.number().nullable() },
  'suite.progress': { done: z.number(), total: z.number(), test: z.string() },
  'suite.ended': {
    ...ofAny,
    purpose,
    total: z.number(),
    passed: z.number(),
    failed: z.number(),
    flaky: z.number(),
    notRun: z.number(),
  },
  'reports.read': shards,
  'tests.seen': { tests: z.array(seen) },
  'tests.decided': { ids: texts, verdict: wordOf(verdictWords), sharedFix: z.boolean().optional() },
  'cause.found': { cause },
  'cause.narrowed': { cause },
  'cause.flaky': { tests: z.array(test) },
  'cause.started': ofCause,
  'cause.blamed': { ...ofCause, blame },
  'blame.ended': { ...ofAny, reason: z.string() },
  'cause.came_back': ofCause,
  'cause.ended': {
    ...ofCause,
    verdict: wordOf(verdictWords),
    reason: z.string(),
    proof: texts.optional(),
    testProofs: z.array(z.looseObject({ id: z.string(), proof: texts })).optional(),
  },
  'tests.quarantined': { tests: z.array(test) },
  'fixer.proposed': { ...ofAttempt, summary: z.string(), agent: z.string() },
  'agent.started': { ...ofAttempt, slashCommand: z.string(), runner: z.string(), logFile: z.string() },
  'agent.activity': { ...ofCause, text: z.string() },
  'agent.ended': {
    ...ofAttempt,
    outcome: z.string(),
    durationMs: z.number(),
    costUsd: z.number().nullable(),
  },
  'agent.retrying': { ...ofAttempt, delayMs: z.number(), reason: z.string() },
  'agent.waiting_for_input': { ...ofCause, question: z.string(), escalationId: z.string().nullable() },
  'agent.escalation_resolved': { escalationId: z.string() },
  'agent.avoided': { reason: z.string(), count: z.number() },
  'agent.build_paused': {},
  'attempt.cut': { ...ofAttempt, cut: z.array(z.looseObject({ file: z.string(), why: z.string() })) },
  'attempt.rejected': { ...ofAttempt, violations: z.array(z.looseObject({})) },
  'attempt.held': {
    ...ofAttempt,
    agent: z.string().nullable(),
    change: z.string().nullable(),
    error: z.string().nullable(),
  },
  'attempt.judged': { ...ofCause, attempt },
  'regression.ended': {
    tests: z.number(),
    leftOut: z.number(),
    broke: z.array(z.looseObject({ causeId: z.string(), tests: texts })),
  },
  'change.reverted': { ...ofCause, change: z.string() },
  'run.undone': { restored: texts, leftAlone: texts },
  'run.warning': { message: z.string() },
  'run.stopped': { message: z.string() },
  'run.ended': {
    outcome: wordOf(outcomeWords),
    exitCode: z.number(),
    durationMs: z.number(),
    agentRuns: z.number(),
    agentRunsAvoided: z.number(),
    costUsd: z.number().nullable(),
    commit: z.string().nullable(),
  },
};

const stamped = z.looseObject({ time: z.number(), type: z.string() });

/** Parses a line of `events.ndjson`; returns null for the torn last line of a killed run, and for anything else that is not an event. */
export function eventIn(line: string): StampedEvent | null {
  const value = jsonOf(line);
  const { success, data } = stamped.safeParse(value);
  if (!success) return null;
  // Events of newer versions are passed on, and `reduce` ignores them.
  const shape = Object.hasOwn(shapes, data.type) ? shapes[data.type as Event['type']] : {};
  const event = z.looseObject(shape).safeParse(value);
  return event.success ? (event.data as StampedEvent) : null;
}

/** Builds the state of the run in this folder from its events. */
export async function readRunState(dir: string): Promise<RunState> {
  const text = await readFile(path.join(dir, eventsFile), 'utf8').catch(() => '');
  const events = text.split('\n').flatMap((line) => eventIn(line) ?? []);
  return runOf(events, path.basename(dir));
}
