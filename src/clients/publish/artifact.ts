import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isKept } from '../../model/attempt.js';
import { fixFile } from '../../outputs/fix-file.js';
import type { Problem } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { eventsFile } from '../../run/event-log.js';
import { readReport } from '../../run/find-run.js';
import type { Report } from '../../run/report.js';

/** A run, read from its artifact. It is untrusted, because an agent may have written to it. */
export interface Artifact {
  /** The run's folder. */
  readonly dir: string;
  readonly report: Report;
  /** The patch with all fixes of the run, as bytes, because files may not be UTF-8; null if there are none. */
  readonly fix: Buffer | null;
}

/** The maximum depth of a run in an artifact: `upload-artifact` keeps the folders above the uploaded one. */
const MAX_DEPTH = 8;

/** The maximum size of a fix, in bytes. */
const MAX_FIX_BYTES = 2 * 1024 * 1024;

/** Finds the newest run below a folder, at any depth. */
export async function readArtifact(folder: string): Promise<Result<Artifact, Problem>> {
  let newest: { readonly dir: string; readonly report: Report } | null = null;
  for (const dir of findRunDirs(folder, MAX_DEPTH).toSorted()) {
    const report = await readReport(dir);
    if (report !== null && (newest === null || report.startedAt >= newest.report.startedAt))
      newest = { dir, report };
  }
  if (newest === null)
    return err({
      kind: 'input-unreadable',
      message: `${folder} contains no self-heal run`,
      remedy: 'Name the folder with the artifact of the job that ran self-heal; it contains .self-heal/runs.',
    });
  const { dir, report } = newest;
  return ok({ dir, report, fix: listFixedCauses(report).length === 0 ? null : readFix(dir) });
}

/** Reads all runs in these folders, in the order of their ids. */
export async function readArtifacts(
  folders: readonly string[],
): Promise<Result<readonly Artifact[], Problem>> {
  const dirs = folders.flatMap((folder) => findRunDirs(folder, MAX_DEPTH));
  const byId = dirs.toSorted((a, b) => path.basename(a).localeCompare(path.basename(b)));
  const artifacts: Artifact[] = [];
  for (const dir of byId) {
    const read = await readArtifact(dir);
    if (!read.ok) return read;
    artifacts.push(read.value);
  }
  return ok(artifacts);
}

/** Returns the folders of runs below a folder, without following links. */
function findRunDirs(folder: string, depth: number): string[] {
  const entries = listEntries(folder);
  if (entries.some((entry) => entry.name === eventsFile && entry.isFile())) return [folder];
  if (depth === 0) return [];
  const folders = entries.filter((entry) => entry.isDirectory() && entry.name !== 'node_modules');
  return folders.flatMap(({ name }) => findRunDirs(path.join(folder, name), depth - 1));
}

function listEntries(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

export function listFixedCauses({ causes }: Report): Report['causes'] {
  return causes.filter(({ attempts }) => attempts.some(isKept));
}

function readFix(dir: string): Buffer | null {
  const entry = listEntries(dir).find(({ name }) => name === fixFile);
  if (!entry?.isFile()) return null;
  const bytes = readFileSync(path.join(dir, fixFile));
  return bytes.length === 0 || bytes.length > MAX_FIX_BYTES ? null : bytes;
}
