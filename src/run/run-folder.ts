import { accessSync, constants, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { type Problem, reasonOf } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import {
  makeNewStateFolder,
  makeStateFolder,
  openStateFolder,
  stateFolder,
  StateRefused,
} from '../state-folder.js';

/** A run's files: `.self-heal/runs/<run-id>/` in the project. */
export interface RunFolder {
  readonly runId: string;
  readonly dir: string;
  /** Creates `failures/<n>` and returns its path. */
  failure(n: number): Promise<string>;
  /** Returns `attempts/<n>`, without an extension, in an existing folder. */
  attempt(n: number): Promise<string>;
}

/** Returns the folder of all runs of a project; `.self-heal/latest` points to the newest run. */
export function runsFolder(projectRoot: string): string {
  return stateFolder(projectRoot, 'runs');
}

/** Returns the folder of a run, which need not exist. */
export function runDirOf(projectRoot: string, runId: string): string {
  if (!/^[\w-]+$/.test(runId)) throw new Error(`not the id of a run: ${runId}`);
  return path.join(runsFolder(projectRoot), runId);
}

/** Returns the project that a run's folder is in. */
export function projectOf(runDir: string): string {
  return path.resolve(runDir, '../../..');
}

/** Creates a run's folder. If it cannot be written, this returns a `Problem` before anything is run. */
export async function createRunFolder(
  projectRoot: string,
  runId: string,
): Promise<Result<RunFolder, Problem>> {
  const dir = runDirOf(projectRoot, runId);
  try {
    openStateFolder(projectRoot);
    makeNewStateFolder(dir);
    pointLatestTo(dir);
    // What agents change is kept there. The folder may belong to another user, whose run created it.
    accessSync(makeStateFolder(stateFolder(projectRoot, 'changes')), constants.W_OK);
  } catch (error) {
    if (error instanceof StateRefused) return err(error.problem);
    return err({
      kind: 'folder-not-writable',
      message: `cannot write to ${stateFolder(projectRoot)}`,
      detail: reasonOf(error),
      remedy: 'Make the project folder writable, or free some disk space.',
    });
  }
  const made = async (...parts: string[]) => makeStateFolder(path.join(dir, ...parts));
  return ok({
    runId,
    dir,
    failure: (n) => made('failures', String(n)),
    attempt: async (n) => path.join(await made('attempts'), String(n)),
  });
}

/** Points `.self-heal/latest` to a run, for people and for CI. self-heal itself reads only which run it names. */
export function pointLatestTo(dir: string): void {
  const latest = path.join(path.dirname(path.dirname(dir)), 'latest');
  rmSync(latest, { recursive: true, force: true });
  // A junction needs no privileges on Windows, but an absolute target; elsewhere, the type is ignored.
  symlinkSync(process.platform === 'win32' ? dir : path.join('runs', path.basename(dir)), latest, 'junction');
}

/** Whether a name, such as one from a listing or a stored file, is the id of a run. */
export function isRunId(name: string): boolean {
  return /^\d{8}-\d{6}-[\da-f]{4}$/.test(name);
}

/** Creates a unique run id that sorts by time: `20261121-071500-4f3a`. */
export function newRunId(now: number, random: number): string {
  const stamp = new Date(now).toISOString().replaceAll(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const suffix = Math.floor(random * 0x10000).toString(16);
  return `${stamp}-${suffix.padStart(4, '0')}`;
}
