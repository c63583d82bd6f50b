import { accessSync, constants, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { reasonOf } from '../reason-of.js';

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
  return path.join(projectRoot, '.self-heal', 'runs');
}

/** Returns the folder of a run, which need not exist. */
export function runDirOf(projectRoot: string, runId: string): string {
  return path.join(runsFolder(projectRoot), runId);
}

/** Creates a run's folder. If it cannot be written, this returns a `Problem` before anything is run. */
export async function createRunFolder(
  projectRoot: string,
  runId: string,
): Promise<Result<RunFolder, Problem>> {
  const home = path.join(projectRoot, '.self-heal');
  const dir = runDirOf(projectRoot, runId);
  try {
    makeRunFolder(dir);
    // What agents change is kept there. The folder may belong to another user, whose run created it.
    const changes = path.join(home, 'changes');
    mkdirSync(changes, { recursive: true });
    accessSync(changes, constants.W_OK);
  } catch (error) {
    return err({
      kind: 'folder-not-writable',
      message: `cannot write to ${home}`,
      detail: reasonOf(error),
      remedy: 'Make the project folder writable, or free some disk space.',
    });
  }
  const made = async (...parts: string[]) => {
    const folder = path.join(dir, ...parts);
    mkdirSync(folder, { recursive: true });
    return folder;
  };
  return ok({
    runId,
    dir,
    failure: (n) => made('failures', String(n)),
    attempt: async (n) => path.join(await made('attempts'), String(n)),
  });
}

/**
 * Makes the folder `.self-heal/runs/<run-id>`, and points `.self-heal/latest` to it. `.self-heal` makes git ignore it, so that runs never show
 * up in `git status`. Throws if it cannot be written.
 */
export function makeRunFolder(dir: string): void {
  const home = path.dirname(path.dirname(dir));
  mkdirSync(dir, { recursive: true });
  writeFileSync(path.join(home, '.gitignore'), '*\n');
  const latest = path.join(home, 'latest');
  rmSync(latest, { force: true, recursive: true });
  // A junction needs no privileges on Windows, but an absolute target; elsewhere, the type is ignored.
  symlinkSync(process.platform === 'win32' ? dir : path.join('runs', path.basename(dir)), latest, 'junction');
}

/** Creates a unique run id that sorts by time: `20261121-071500-4f3a`. */
export function newRunId(now: number, random: number): string {
  const stamp = new Date(now).toISOString().replaceAll(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const suffix = Math.floor(random * 0x10000).toString(16);
  return `${stamp}-${suffix.padStart(4, '0')}`;
}
