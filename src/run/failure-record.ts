import path from 'node:path';
import { z } from 'zod';
import { traceFiles } from '../evidence/evidence-files.js';
import type { DiagnosedFailure } from '../core/cause.js';
import { categories, type Diagnosis, evidenceSources, retryAxes } from '../core/diagnosis.js';
import type { Evidence } from '../core/evidence.js';
import type { Phase, Failure, TestError, TestRef } from '../core/failure.js';
import { jsonOf } from '../json-of.js';
import { relativePath } from '../paths.js';
import { hasState, listState, readStateText, writeState } from '../state-folder.js';
import { pictureNames } from './pictures.js';
import { projectOf } from './run-folder.js';

const fileName = 'failure.json';

const texts = z.array(z.string());
const textOrNull = z.string().nullable();
const numberOrNull = z.number().nullable();
const location = z.object({ file: z.string(), line: z.number(), column: z.number() });

const test: z.ZodType<TestRef> = z.object({
  id: z.string(),
  titlePath: texts,
  location,
  project: z.string(),
});

const error: z.ZodType<TestError> = z.object({
  message: z.string(),
  stack: textOrNull,
  snippet: textOrNull,
  location: location.nullable(),
  causes: texts,
});

/** Without what only the run itself could read: the files of its workers, which are deleted when it has gathered the evidence. */
const failure = z.discriminatedUnion('scope', [
  z.object({
    scope: z.literal('test'),
    test,
    status: z.enum(['failed', 'timedOut', 'interrupted', 'passed']),
    errors: z.array(error),
    failedStep: textOrNull,
    unfinished: texts.exactOptional(),
    retry: z.number(),
    durationMs: z.number(),
    startedAt: z.number(),
    setUp: z
      .object({ projects: texts, storageState: textOrNull, storageAgeMs: z.number().nullable() })
      .exactOptional(),
  }),
  z.object({
    scope: z.literal('suite'),
    errors: z.array(error),
    stderr: z.string(),
    phase: z
      .object({
        kind: z.enum(['config', 'web-server', 'global-setup']),
        at: location.nullable(),
        servers: z.array(z.object({ command: z.string(), cwd: z.string(), url: textOrNull })),
        file: textOrNull,
      })
      .exactOptional(),
  }),
]);

const headers = z.record(z.string(), z.string());

/** Without what is known where it is read: the project, and what of the evidence is still there. */
type StoredEvidence = Omit<Evidence, 'rootDir' | 'workspaceDir' | 'trace'>;

const evidence: z.ZodType<StoredEvidence> = z.object({
  errors: z.array(error),
  failedStep: textOrNull,
  steps: z
    .array(
      z.object({
        time: z.number(),
        durationMs: numberOrNull,
        title: z.string(),
        at: z.string(),
        error: textOrNull,
        log: texts,
        isFailing: z.literal(true).exactOptional(),
      }),
    )
    .exactOptional(),
  console: z.array(
    z.object({
      time: z.number(),
      type: z.string(),
      text: z.string(),
      location: z.string(),
      stack: textOrNull,
      common: z.boolean().exactOptional(),
    }),
  ),
  network: z.array(
    z.object({
      time: z.number(),
      method: z.string(),
      url: z.string(),
      resourceType: z.string(),
      status: numberOrNull,
      durationMs: numberOrNull,
      failure: textOrNull,
      requestHeaders: headers,
      responseHeaders: headers,
      requestBody: textOrNull,
      responseBody: textOrNull,
      isOpen: z.literal(true).exactOptional(),
      common: z.boolean().exactOptional(),
    }),
  ),
  serverOutput: z.string(),
  serverLines: z.array(z.object({ time: z.number(), text: z.string() })).exactOptional(),
  ofOthers: texts.exactOptional(),
  ariaSnapshot: textOrNull,
  pageUrl: textOrNull,
  screenshot: z.enum(pictureNames).nullable(),
  missing: texts,
  cut: texts,
  otherRun: z.object({ run: z.enum(['first', 'confirming']), errors: z.array(error) }).exactOptional(),
  sources: z.array(z.object({ at: z.string(), generated: z.string(), snippet: textOrNull })),
  elements: z
    .array(
      z.object({
        tag: z.string(),
        text: z.string(),
        label: z.string(),
        attributes: z.record(z.string(), z.string()),
      }),
    )
    .nullable()
    .exactOptional(),
});

const diagnosis: z.ZodType<Diagnosis> = z.object({
  category: z.enum(categories),
  alternatives: z.array(z.enum(categories)),
  confidence: z.number(),
  why: z.array(
    z.object({
      rule: z.string(),
      category: z.enum(categories),
      source: z.enum(evidenceSources),
      evidence: z.string(),
      confidence: z.number(),
    }),
  ),
  retry: z.enum(retryAxes),
  facts: z.object({
    errorType: z.string(),
    source: textOrNull,
    sql: textOrNull,
    sqlState: textOrNull,
    table: textOrNull,
    column: textOrNull,
    constraint: textOrNull,
    policy: textOrNull,
    endpoint: textOrNull,
    locator: textOrNull,
  }),
  warning: textOrNull,
  advice: z.string().exactOptional(),
});

/**
 * A failure as it is stored: its paths are relative to the project, and its screenshot is one of the files beside it. What this shape does not
 * name is not stored.
 */
const recordShape = z.object({
  schemaVersion: z.literal(1),
  n: z.int().positive(),
  failure,
  evidence,
  diagnosis,
  signature: z.string(),
  rerunIds: texts,
  along: texts.exactOptional(),
  needs: texts.exactOptional(),
  machine: textOrNull.exactOptional(),
});

/** Stores what was gathered and decided about a failure in its folder, so that a later command can read it (CL-9). */
export async function writeFailureRecord(folder: string, one: DiagnosedFailure): Promise<void> {
  const { rootDir, screenshot } = one.evidence;
  const { evidence: seen, ...rest } = withPlaces(one, (file) => relativePath(rootDir, file));
  const name = screenshot === null ? null : path.basename(screenshot);
  const record = recordShape.parse({ schemaVersion: 1, ...rest, evidence: { ...seen, screenshot: name } });
  writeState(path.join(folder, fileName), `${JSON.stringify(record)}\n`);
}

/**
 * Reads the failures that a run recorded, or only those with the given numbers, in order of number. `unreadable` lists records that
 * could not be read, by their path in the run's folder.
 */
export async function readFailureRecords(
  runDir: string,
  only?: ReadonlySet<number>,
): Promise<{ failures: DiagnosedFailure[]; unreadable: string[] }> {
  const folder = path.join(runDir, 'failures');
  const numbers = listState(folder).filter((name) => /^[1-9]\d*$/.test(name));
  const failures: DiagnosedFailure[] = [];
  const unreadable: string[] = [];
  const wanted = numbers.map(Number).filter((n) => only?.has(n) ?? true);
  for (const n of wanted.toSorted((a, b) => a - b)) {
    const found = read(runDir, n);
    if (found) failures.push(found);
    else unreadable.push(`failures/${n}/${fileName}`);
  }
  return { failures, unreadable };
}

function read(runDir: string, n: number): DiagnosedFailure | null {
  const folder = path.join(runDir, 'failures', String(n));
  const parsed = recordShape.safeParse(jsonOf(readStateText(path.join(folder, fileName))));
  if (!parsed.success) return null;
  const { schemaVersion: _, ...stored } = parsed.data;
  const { screenshot } = stored.evidence;
  const trace = path.join(folder, traceFiles.trace);
  const rootDir = projectOf(runDir);
  const one: DiagnosedFailure = {
    ...stored,
    n,
    failure: stored.failure.scope === 'suite' ? stored.failure : { ...stored.failure, attachments: [] },
    evidence: {
      ...stored.evidence,
      screenshot: screenshot === null ? null : path.join(folder, screenshot),
      trace: hasState(trace) ? trace : null,
      rootDir,
    },
  };
  return withPlaces(one, (file) => path.resolve(rootDir, file));
}

/** Changes every path in the project's code that a failure names. */
function withPlaces(one: DiagnosedFailure, at: (file: string) => string): DiagnosedFailure {
  const located = <T extends { readonly location: TestError['location'] }>(value: T): T =>
    value.location ? { ...value, location: { ...value.location, file: at(value.location.file) } } : value;
  const errors = one.failure.errors.map(located);
  const { otherRun } = one.evidence;
  const phase = (of: Phase): Phase => ({
    ...of,
    at: of.at && { ...of.at, file: at(of.at.file) },
    file: of.file && at(of.file),
  });
  const failed: Failure =
    one.failure.scope === 'suite'
      ? { ...one.failure, errors, ...(one.failure.phase ? { phase: phase(one.failure.phase) } : {}) }
      : { ...one.failure, errors, test: located(one.failure.test) };
  return {
    ...one,
    failure: failed,
    evidence: {
      ...one.evidence,
      errors: one.evidence.errors.map(located),
      ...(otherRun ? { otherRun: { ...otherRun, errors: otherRun.errors.map(located) } } : {}),
    },
  };
}
