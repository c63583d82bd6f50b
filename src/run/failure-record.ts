import path from 'node:path';
import { z } from 'zod';
import { traceFiles } from '../evidence/evidence-files.js';
import { type DiagnosedFailure, failureRecordShape } from '../model/cause.js';
import { evidenceShape } from '../model/evidence.js';
import type { Failure, SuitePhase, TestError } from '../model/failure.js';
import { relativePath } from '../paths.js';
import { hasStateFile, listStateFolder, readStateJson, writeStateFile } from '../state-folder.js';
import { pictureNames } from './pictures.js';
import { getProjectRoot } from './run-folder.js';

const fileName = 'failure.json';

/** A stored failure, with paths relative to the project. Its screenshot is one of the files next to it. */
const recordShape = failureRecordShape.extend({
  schemaVersion: z.literal(1),
  evidence: evidenceShape.extend({ screenshot: z.enum(pictureNames).nullable() }),
});

/** Stores a failure in its folder, for later commands (CL-9). */
export async function writeFailureRecord(folder: string, failure: DiagnosedFailure): Promise<void> {
  const { rootDir, screenshot } = failure.evidence;
  const { evidence, ...rest } = mapPaths(failure, (file) => relativePath(rootDir, file));
  const name = screenshot === null ? null : path.basename(screenshot);
  const record = recordShape.parse({
    schemaVersion: 1,
    ...rest,
    evidence: { ...evidence, screenshot: name },
  });
  writeStateFile(path.join(folder, fileName), `${JSON.stringify(record)}\n`);
}

/**
 * Reads the failures that a run recorded, or only those with the given numbers, in order of number. `unreadable` lists records that
 * could not be read, by their path in the run's folder.
 */
export async function readFailureRecords(
  runDir: string,
  {
    root = getProjectRoot(runDir),
    only,
  }: { readonly root?: string; readonly only?: ReadonlySet<number> } = {},
): Promise<{ failures: DiagnosedFailure[]; unreadable: string[] }> {
  const folder = path.join(runDir, 'failures');
  const numbers = listStateFolder(folder).filter((name) => /^[1-9]\d*$/.test(name));
  const failures: DiagnosedFailure[] = [];
  const unreadable: string[] = [];
  const selected = numbers.map(Number).filter((n) => only?.has(n) ?? true);
  for (const n of selected.toSorted((a, b) => a - b)) {
    const failure = readFailureRecord(runDir, n, root);
    if (failure) failures.push(failure);
    else unreadable.push(`failures/${n}/${fileName}`);
  }
  return { failures, unreadable };
}

function readFailureRecord(runDir: string, n: number, rootDir: string): DiagnosedFailure | null {
  const folder = path.join(runDir, 'failures', String(n));
  const record = readStateJson(path.join(folder, fileName), recordShape);
  if (record === null) return null;
  const { schemaVersion: _, ...stored } = record;
  const { screenshot } = stored.evidence;
  const trace = path.join(folder, traceFiles.trace);
  const failure: DiagnosedFailure = {
    ...stored,
    n,
    failure: stored.failure.scope === 'suite' ? stored.failure : { ...stored.failure, attachments: [] },
    evidence: {
      ...stored.evidence,
      screenshot: screenshot === null ? null : path.join(folder, screenshot),
      trace: hasStateFile(trace) ? trace : null,
      rootDir,
    },
  };
  return mapPaths(failure, (file) => path.resolve(rootDir, file));
}

/** Applies a function to every path of the project's code in a failure. */
function mapPaths(diagnosed: DiagnosedFailure, convert: (file: string) => string): DiagnosedFailure {
  const { failure, evidence } = diagnosed;
  const mapLocation = <T extends { readonly location: TestError['location'] }>(value: T): T =>
    value.location
      ? { ...value, location: { ...value.location, file: convert(value.location.file) } }
      : value;
  const errors = failure.errors.map(mapLocation);
  const { otherRun } = evidence;
  const mapPhase = ({ at, file, ...phase }: SuitePhase): SuitePhase => ({
    ...phase,
    at: at && { ...at, file: convert(at.file) },
    file: file && convert(file),
  });
  const mapped: Failure =
    failure.scope === 'suite'
      ? { ...failure, errors, ...(failure.phase ? { phase: mapPhase(failure.phase) } : {}) }
      : { ...failure, errors, test: mapLocation(failure.test) };
  return {
    ...diagnosed,
    failure: mapped,
    evidence: {
      ...evidence,
      errors: evidence.errors.map(mapLocation),
      ...(otherRun ? { otherRun: { ...otherRun, errors: otherRun.errors.map(mapLocation) } } : {}),
    },
  };
}
