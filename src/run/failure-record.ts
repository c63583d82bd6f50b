import path from 'node:path';
import { z } from 'zod';
import { traceFiles } from '../evidence/evidence-files.js';
import { diagnosedShape, type DiagnosedFailure } from '../model/cause.js';
import { evidenceShape } from '../model/evidence.js';
import {
  type Failure,
  type Phase,
  suiteFailureShape,
  type TestError,
  testFailureShape,
} from '../model/failure.js';
import { jsonOf } from '../json-of.js';
import { relativePath } from '../paths.js';
import { hasState, listState, readStateText, writeState } from '../state-folder.js';
import { pictureNames } from './pictures.js';
import { projectOf } from './run-folder.js';

const fileName = 'failure.json';

/**
 * A failure as it is stored: its paths are relative to the project, its screenshot is one of the files beside it, and what only the run itself
 * could read is left out.
 */
const recordShape = diagnosedShape.extend({
  schemaVersion: z.literal(1),
  failure: z.discriminatedUnion('scope', [testFailureShape, suiteFailureShape]),
  evidence: evidenceShape.extend({ screenshot: z.enum(pictureNames).nullable() }),
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
  { root = projectOf(runDir), only }: { readonly root?: string; readonly only?: ReadonlySet<number> } = {},
): Promise<{ failures: DiagnosedFailure[]; unreadable: string[] }> {
  const folder = path.join(runDir, 'failures');
  const numbers = listState(folder).filter((name) => /^[1-9]\d*$/.test(name));
  const failures: DiagnosedFailure[] = [];
  const unreadable: string[] = [];
  const wanted = numbers.map(Number).filter((n) => only?.has(n) ?? true);
  for (const n of wanted.toSorted((a, b) => a - b)) {
    const found = read(runDir, n, root);
    if (found) failures.push(found);
    else unreadable.push(`failures/${n}/${fileName}`);
  }
  return { failures, unreadable };
}

function read(runDir: string, n: number, rootDir: string): DiagnosedFailure | null {
  const folder = path.join(runDir, 'failures', String(n));
  const parsed = recordShape.safeParse(jsonOf(readStateText(path.join(folder, fileName))));
  if (!parsed.success) return null;
  const { schemaVersion: _, ...stored } = parsed.data;
  const { screenshot } = stored.evidence;
  const trace = path.join(folder, traceFiles.trace);
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
