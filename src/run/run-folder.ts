import { accessSync, constants, existsSync, lstatSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { findGitRoot } from '../workspace/git.js';
import { type Problem, describeError } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import {
  listStateFolder,
  makeNewStateFolder,
  makeStateFolder,
  openStateFolder,
  removeStatePath,
  stateFolder,
  StateRefused,
} from '../state-folder.js';
import {
  listUsableCaches,
  makeWorkFolder,
  moveOrCopy,
  removeWorkFolder,
  listRunsAtWork,
} from '../work-folder.js';
import { changesFolder } from '../workspace/change.js';

/** A run's files. */
export interface RunFolder {
  readonly runId: string;
  /** Its path while the run is in progress, outside of the project. */
  readonly dir: string;
  /** Its path afterwards: `.self-heal/runs/<run-id>/` in the project. */
  readonly finalDir: string;
  /** Creates `failures/<n>` and returns its path. */
  makeFailureFolder(n: number): Promise<string>;
  /** Creates `attempts` and returns `attempts/<n>`, the path of the attempt's files without an extension. */
  makeAttemptPath(n: number): Promise<string>;
}

/** Returns the folder of all runs of a project; `.self-heal/latest` points to the newest run. */
export function getRunsFolder(projectRoot: string): string {
  return stateFolder(projectRoot, 'runs');
}

/** Returns the folder of a run, which may not exist. While the run is in progress, it is outside of the project. */
export function findRunDir(projectRoot: string, runId: string): string {
  if (!/^[\w-]+$/.test(runId)) throw new Error(`not a run id: ${runId}`);
  const finalDir = path.join(getRunsFolder(projectRoot), runId);
  return existsSync(finalDir) ? finalDir : (listRunsAtWork(projectRoot).get(runId) ?? finalDir);
}

/** Returns the project that a run's folder is in. */
export function getProjectRoot(runDir: string): string {
  return path.resolve(runDir, '../../..');
}

/** Creates a run's folder; returns a `Problem` if that is impossible. */
export async function createRunFolder(
  projectRoot: string,
  runId: string,
): Promise<Result<RunFolder, Problem>> {
  const finalDir = path.join(getRunsFolder(projectRoot), runId);
  try {
    openStateFolder(projectRoot);
    pointLatestTo(finalDir);
    // They may belong to another user, whose run created them.
    for (const name of ['runs', 'changes'])
      accessSync(makeStateFolder(stateFolder(projectRoot, name)), constants.W_OK);
    const caches = listUsableCaches(findGitRoot(projectRoot) ?? projectRoot);
    const workFolder = await makeWorkFolder(projectRoot, caches);
    if (!workFolder.ok) return workFolder;
    const dir = path.join(getRunsFolder(workFolder.value), runId);
    makeNewStateFolder(dir);
    const subfolder = async (...parts: string[]) => makeStateFolder(path.join(dir, ...parts));
    return ok({
      runId,
      dir,
      finalDir,
      makeFailureFolder: (n) => subfolder('failures', String(n)),
      makeAttemptPath: async (n) => path.join(await subfolder('attempts'), String(n)),
    });
  } catch (error) {
    if (error instanceof StateRefused) return err(error.problem);
    return err({
      kind: 'folder-not-writable',
      message: `cannot write to ${stateFolder(projectRoot)}`,
      detail: describeError(error),
      remedy: 'Make the project folder writable, or free some disk space.',
    });
  }
}

/**
 * Moves the files of a run, and the contents of its changes, into its project. The run does this at its end, its watchdog after a kill, or otherwise
 * the next command. Rejects if it is impossible; the files then stay where they are.
 */
export async function moveRunIntoProject({
  dir,
  finalDir,
}: Pick<RunFolder, 'dir' | 'finalDir'>): Promise<void> {
  openStateFolder(getProjectRoot(finalDir));
  // Restores a deleted link, but leaves the link of a newer run.
  if (!lstatSync(latestLinkPath(finalDir), { throwIfNoEntry: false })) pointLatestTo(finalDir);
  const moves = [
    [changesFolder(dir), changesFolder(finalDir)],
    [dir, finalDir],
  ] as const;
  for (const [from, to] of moves) await moveOrCopy(from, to);
  for (const [from] of moves) await removeStatePath(from);
  await removeWorkFolder(getProjectRoot(dir));
}

/** Removes the files of a run without results; `latest` then points to the previous run. */
export async function removeRunFolder({ dir, finalDir }: Pick<RunFolder, 'dir' | 'finalDir'>): Promise<void> {
  for (const folder of [changesFolder(dir), dir]) await removeStatePath(folder);
  await removeWorkFolder(getProjectRoot(dir));
  const runs = path.dirname(finalDir);
  const previous = listStateFolder(runs).filter(isRunId).toSorted().at(-1);
  if (previous === undefined) removeLatest(latestLinkPath(finalDir));
  else pointLatestTo(path.join(runs, previous));
}

/** Returns a message that the files of a run could not be moved, with their path. */
export function describeMoveFailure(
  { dir, finalDir }: Pick<RunFolder, 'dir' | 'finalDir'>,
  error: unknown,
): string {
  return `the files of run ${path.basename(dir)} could not be moved into ${path.dirname(finalDir)}: ${describeError(error)}\n  → They are in ${dir}, and the next command moves them. Free some disk space, or make the folder writable.`;
}

/**
 * Points `.self-heal/latest` to a run, for people and for CI. self-heal itself reads only its target's name. Leaves a real folder in its
 * place, such as from an unpacked artifact.
 */
function pointLatestTo(dir: string): void {
  const latest = latestLinkPath(dir);
  if (!removeLatest(latest)) return;
  // A junction needs no privileges on Windows, but an absolute target; elsewhere, the type is ignored.
  symlinkSync(process.platform === 'win32' ? dir : path.join('runs', path.basename(dir)), latest, 'junction');
}

/** Removes the link; returns true if there is none afterwards. */
function removeLatest(latest: string): boolean {
  if (lstatSync(latest, { throwIfNoEntry: false })?.isDirectory()) return false;
  rmSync(latest, { force: true });
  return true;
}

function latestLinkPath(dir: string): string {
  return path.join(path.dirname(path.dirname(dir)), 'latest');
}

/** True if a name, such as one from a listing or a stored file, is a run id. */
export function isRunId(name: string): boolean {
  return /^\d{8}-\d{6}-[\da-f]{4}$/.test(name);
}

/** Creates a unique run id that sorts by time: `20261121-071500-4f3a`. */
export function createRunId(now: number, random: number): string {
  const stamp = new Date(now).toISOString().replaceAll(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const suffix = Math.floor(random * 0x10000).toString(16);
  return `${stamp}-${suffix.padStart(4, '0')}`;
}
