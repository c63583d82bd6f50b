import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Event, StampedEvent } from '../event.js';
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

const ofCause = { causeId: z.string() };
const ofAny = { causeId: z.string().nullable() };
const ofAttempt = { ...ofCause, attempt: z.number() };

/** What each event must have for what is made of it: a run's folder may have been in anybody's hands. */
const shapes: { readonly [T in Event['type']]: z.ZodRawShape } = {
  'run.started': {
    runId: z.string(),
    project: z.string(),
    dryRun: z.boolean(),
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
  'shards.joined': { total: z.number(), missing: z.array(z.number()) },
  'cause.found': { cause },
  'cause.flaky': { tests: z.array(test) },
  'cause.started': ofCause,
  'cause.sent': ofCause,
  'cause.taken': { ...ofCause, worker: z.string() },
  'workers.seen': {
    workers: z.array(
      z.looseObject({
        name: z.string(),
        state: z.string(),
        since: z.number(),
        causeId: z.string().nullable(),
        elsewhere: z.string().nullable(),
      }),
    ),
  },
  'cause.blamed': { ...ofCause, blame },
  'blame.ended': { ...ofAny, reason: z.string() },
  'cause.came_back': ofCause,
  'cause.ended': { ...ofCause, verdict: wordOf(verdictWords), reason: z.string() },
  'tests.quarantined': { tests: z.array(test) },
  'fixer.proposed': { ...ofAttempt, summary: z.string(), agent: z.string().optional() },
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
  'agent.build_paused': {},
  'attempt.rejected': { ...ofAttempt, violations: z.array(z.looseObject({})) },
  'attempt.green': { ...ofAttempt, agent: z.string().nullable(), change: z.string().nullable() },
  'attempt.judged': { ...ofCause, attempt },
  'change.reverted': { ...ofCause, change: z.string() },
  'run.undone': { restored: texts, leftAlone: texts },
  'run.warning': { message: z.string() },
  'run.ended': {
    outcome: wordOf(outcomeWords),
    exitCode: z.number(),
    durationMs: z.number(),
    agentRuns: z.number(),
    agentRunsAvoided: z.number(),
    costUsd: z.number().nullable(),
  },
};

const stamped = z.looseObject({ time: z.number(), type: z.string() });

/** The event that a line of `events.ndjson` holds; null for what a killed run left of its last line, and for what no event looks like. */
export function eventIn(line: string): StampedEvent | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  const { success, data } = stamped.safeParse(value);
  if (!success) return null;
  // What a newer self-heal tells is passed on, and `reduce` passes it over.
  const shape = Object.hasOwn(shapes, data.type) ? shapes[data.type as Event['type']] : {};
  return z.looseObject(shape).safeParse(value).success ? (value as StampedEvent) : null;
}

/** The events of the run in this folder; none where there are none. */
export async function readEvents(dir: string): Promise<StampedEvent[]> {
  const text = await readFile(path.join(dir, eventsFile), 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => eventIn(line) ?? []);
}

/** The run in this folder, as its events tell of it. */
export async function readRunState(dir: string): Promise<RunState> {
  return runOf(await readEvents(dir), path.basename(dir));
}
