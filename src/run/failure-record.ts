import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { DiagnosedFailure } from '../core/cause.js';
import { jsonOf } from '../json-of.js';
import { writeFileAtomicSync } from '../write-file-atomic.js';

const schemaVersion = 1;
const fileName = 'failure.json';

/** Stores what was gathered and decided about a failure in its folder, so that a later command can read it (CL-9). */
export async function writeFailureRecord(folder: string, failure: DiagnosedFailure): Promise<void> {
  writeFileAtomicSync(path.join(folder, fileName), `${JSON.stringify({ schemaVersion, ...failure })}\n`);
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
  const numbers = (await readdir(folder).catch(() => [])).map(Number).filter(Number.isInteger);
  const failures: DiagnosedFailure[] = [];
  const unreadable: string[] = [];
  const wanted = numbers.filter((n) => only?.has(n) ?? true);
  for (const n of wanted.toSorted((a, b) => a - b)) {
    const found = await read(path.join(folder, String(n), fileName));
    if (found) failures.push(found);
    else unreadable.push(`failures/${n}/${fileName}`);
  }
  return { failures, unreadable };
}

async function read(file: string): Promise<DiagnosedFailure | null> {
  const found = Object(jsonOf(await readFile(file, 'utf8').catch(() => ''))) as DiagnosedFailure & {
    schemaVersion?: number;
  };
  const { schemaVersion: version, ...failure } = found;
  return version === schemaVersion && failure.evidence && failure.diagnosis ? failure : null;
}
