import { setTimeout as delay } from 'node:timers/promises';
import prettyMs from 'pretty-ms';
import { z } from 'zod';
import { lockFile } from '../file-lock.js';
import { type Problem, describeError } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import {
  checkDatabase,
  openStateFolder,
  readStateJson,
  stateFolder,
  StateRefused,
  writeStateFile,
} from '../state-folder.js';

/** The exclusive right to change a project, held by one process at a time. */
export interface ProjectLock extends Disposable {
  /** Stores the id of the holder's current run, for the messages of other commands. */
  setRun(runId: string): Promise<void>;
}

/** Who requests the lock, and whether to wait for it. */
export interface LockRequest {
  /** As typed: `run`, `undo`. */
  readonly command: string;
  /** True to wait until the lock is free; otherwise, a held lock is a `Problem`. */
  readonly wait: boolean;
  /** Called once with a description of the lock's holder. */
  readonly onWait?: (text: string) => void;
}

const holderShape = z.object({
  command: z.string(),
  runId: z.string().nullable(),
  pid: z.int().positive(),
  since: z.iso.datetime(),
});
type Holder = z.infer<typeof holderShape>;

const RETRY_MS = 200;

/**
 * Locks a project with `.self-heal/lock`, until the lock is disposed of or the process ends. `.self-heal/lock.json` describes the holder, for
 * messages only.
 */
export async function lockProject(
  projectRoot: string,
  { command, wait, onWait }: LockRequest,
): Promise<Result<ProjectLock, Problem>> {
  const file = stateFolder(projectRoot, 'lock');
  const holderFile = stateFolder(projectRoot, 'lock.json');
  try {
    openStateFolder(projectRoot);
    checkDatabase(file);
    for (let hasWaited = false; ; hasWaited = true) {
      const lock = await lockFile(file);
      if (lock) return ok(await openLock(holderFile, command, lock));
      const holder = readStateJson(holderFile, holderShape);
      if (!wait) return err(createLockedProblem(holder));
      if (!hasWaited) onWait?.(`waiting for ${describeHolder(holder)}`);
      await delay(RETRY_MS);
    }
  } catch (error) {
    if (error instanceof StateRefused) return err(error.problem);
    return err({
      kind: 'folder-not-writable',
      message: `cannot lock ${stateFolder(projectRoot)}`,
      detail: describeError(error),
      remedy: 'Make the project folder writable, or free some disk space.',
    });
  }
}

async function openLock(holderFile: string, command: string, lock: Disposable): Promise<ProjectLock> {
  const since = new Date().toISOString();
  const setRun = async (runId: string | null) => {
    const holder: Holder = { command, runId, pid: process.pid, since };
    writeStateFile(holderFile, `${JSON.stringify(holder)}\n`);
  };
  await setRun(null);
  return { setRun, [Symbol.dispose]: () => lock[Symbol.dispose]() };
}

function describeHolder(holder: Holder | null): string {
  if (holder === null) return 'another self-heal';
  const { command, runId, pid, since } = holder;
  const age = prettyMs(Math.max(0, Date.now() - Date.parse(since)), { compact: true });
  return `\`self-heal ${command}\`${runId === null ? '' : ` (run ${runId})`}, process ${pid}, for ${age}`;
}

function createLockedProblem(holder: Holder | null): Problem {
  return {
    kind: 'project-locked',
    message: `this project is in use by ${describeHolder(holder)}`,
    remedy:
      'Wait for it with --wait, or interrupt it. Commands that only read, such as inspect and report, still work.',
  };
}
