import { z } from 'zod';
import type { DiagnosedFailure } from '../core/cause.js';
import { categories, evidenceSources, retryAxes } from '../core/diagnosis.js';
import { consoleEntry, networkEntry, pageElement } from '../playwright/entry-shapes.js';
import type { SuiteRun, TestResult } from '../playwright/suite-run.js';

/** The file in a run's folder that says what a shard ran. Its failures are beside it, each in `failures/<n>/failure.json`. */
export const collectedFile = 'collected.json';

/** Which part of a suite one machine ran, counted from 1. The whole suite is 1 of 1. */
export interface Shard {
  readonly current: number;
  readonly total: number;
}

const text = z.string();
const texts = z.array(z.string());
const count = z.int().min(0);

const location = z.object({ file: text, line: count, column: count });
const test = z.object({ id: text.min(1), titlePath: texts.min(1), location, project: text });
const error = z.object({
  message: text,
  stack: text.nullable(),
  snippet: text.nullable(),
  location: location.nullable(),
  causes: texts,
});

const suiteFailure = z.object({ scope: z.literal('suite'), errors: z.array(error), stderr: text });
const testFailure = z.object({
  scope: z.literal('test'),
  test,
  status: z.enum(['failed', 'timedOut', 'interrupted', 'passed']),
  errors: z.array(error),
  failedStep: text.nullable(),
  unfinished: texts.exactOptional(),
  retry: count,
  durationMs: z.number(),
  startedAt: z.number(),
  // These files stayed on the shard. Whatever was needed from them is in the evidence.
  attachments: z.any().transform((): [] => []),
  capture: z.any().transform(() => null),
});

const common = z.boolean().exactOptional();
const evidence = z.object({
  errors: z.array(error),
  failedStep: text.nullable(),
  console: z.array(consoleEntry.extend({ common })),
  network: z.array(networkEntry.extend({ common })),
  serverOutput: text,
  ariaSnapshot: text.nullable(),
  pageUrl: text.nullable(),
  screenshot: text.nullable(),
  trace: z.any().transform(() => null),
  missing: texts,
  cut: texts,
  sources: z.array(z.object({ at: text, generated: text, snippet: text.nullable() })),
  elements: z.array(pageElement).nullable().exactOptional(),
  rootDir: text,
  workspaceDir: text.exactOptional(),
});

const category = z.enum(categories);
const known = text.nullable();
const diagnosis = z.object({
  category,
  alternatives: z.array(category),
  confidence: z.number(),
  why: z.array(
    z.object({
      rule: text,
      category,
      source: z.enum(evidenceSources),
      evidence: text,
      confidence: z.number(),
    }),
  ),
  retry: z.enum(retryAxes),
  facts: z.object({
    errorType: text,
    source: known,
    sql: known,
    sqlState: known,
    table: known,
    column: known,
    constraint: known,
    policy: known,
    endpoint: known,
    locator: known,
  }),
  warning: text.nullable(),
});

/** A `failure.json` as a shard wrote it, with the paths of the shard's machine. */
export const failureSchema: z.ZodType<DiagnosedFailure> = z.object({
  schemaVersion: z.literal(1),
  n: z.int().positive(),
  failure: z.discriminatedUnion('scope', [testFailure, suiteFailure]),
  evidence,
  diagnosis,
  signature: text.min(1),
  rerunIds: texts,
});

const testResult: z.ZodType<TestResult> = z.object({
  test,
  outcome: z.enum(['expected', 'unexpected', 'flaky', 'skipped', 'not-run']),
  retries: count,
  durationMs: z.number(),
});

type CollectedRun = Omit<
  SuiteRun,
  | 'failures'
  | 'suiteFailure'
  | 'serverLog'
  | 'shard'
  | 'serial'
  | 'reusedServer'
  | 'stoppedEarly'
  | 'endedLingering'
>;

/** What is kept of a shard's first run. Its failures are stored separately, with their evidence. */
export const collectedRun: z.ZodType<CollectedRun> = z.object({
  status: z.enum(['passed', 'failed', 'timedout', 'interrupted', 'no-report']),
  exitCode: z.number().nullable(),
  tests: z.array(testResult),
  rerunIds: z.record(text, texts),
  rootDir: text,
  testFiles: texts.exactOptional(),
  configFile: text.nullable(),
  durationMs: z.number(),
  endedAt: z.number(),
  captureProblems: texts,
});

/** A `collected.json`: which part of which suite was run, where, and with what results. */
export const collectedSchema = z.object({
  schemaVersion: z.literal(1),
  project: text,
  /** HEAD, or null if there is no repository. */
  commit: text.nullable(),
  /** Whether there were uncommitted changes. */
  isDirty: z.boolean(),
  shard: z
    .object({ current: z.int().positive(), total: z.int().positive().max(10_000) })
    .refine(({ current, total }) => current <= total, 'is not a shard'),
  playwright: text,
  /** The Playwright arguments that select the tests, without the shard. */
  selection: texts.readonly(),
  /** The root of the project's repository on that machine; absolute. */
  root: text.min(1),
  /** The project's folder in it, with forward slashes; empty for the root. */
  place: text,
  run: collectedRun,
  /** The numbers of its failures, in order. */
  failures: z.array(z.int().positive()),
});
export type Collected = z.infer<typeof collectedSchema>;
