import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type Libsql from 'libsql';
import prettyMs from 'pretty-ms';
import { z } from 'zod';
import { jsonOf } from '../json-of.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { writeFileAtomic } from '../write-file-atomic.js';
import { reasonOf } from '../reason-of.js';
import { sqliteLock } from './sqlite-lock.js';

/** The exclusive right to change a project, held by one process at a time. */
export interface ProjectLock extends Disposable {
  /** Names the holder's current run, for others who find the project locked. */
  tell(runId: string): Promise<void>;
}

/** Who requests the lock, and whether to wait for it. */
export interface LockRequest {
  /** As typed: `run`, `resume`, `undo`. */
  readonly command: string;
  /** Whether to wait until the lock is free; if not, a held lock is a `Problem`. */
  readonly wait: boolean;
  /** Called once with a text that says who holds the lock. */
  readonly onWait?: (text: string) => void;
}

const holderShape = z.object({
  command: z.string(),
  runId: z.string().nullable(),
  pid: z.int().positive(),
  since: z.iso.datetime(),
});
type Holder = z.infer<typeof holderShape>;

/**
 * Takes the lock of a project, `.self-heal/lock`, which ends with the process that holds it. `.self-heal/lock.json` names the holder for
 * information only.
 */
export async function lockProject(
  projectRoot: string,
  request: LockRequest,
): Promise<Result<ProjectLock, Problem>> {
  const folder = path.join(projectRoot, '.self-heal');
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, '.gitignore'), '*\n');
    let holder: Holder | null = null;
    let told = false;
    const database = await sqliteLock(path.join(folder, 'lock'), 'exclusive', async () => {
      holder = await holderOf(folder);
      if (request.wait && !told) request.onWait?.(`waiting for ${describe(holder)}`);
      told = true;
      return request.wait;
    });
    return database ? ok(await held(folder, request, database)) : err(locked(holder));
  } catch (error) {
    return err({
      kind: 'folder-not-writable',
      message: `cannot lock ${folder}`,
      detail: reasonOf(error),
      remedy: 'Make the project folder writable, or free some disk space.',
    });
  }
}

async function held(
  folder: string,
  { command }: LockRequest,
  database: Libsql.Database,
): Promise<ProjectLock> {
  const since = new Date().toISOString();
  const tell = async (runId: string | null) => {
    const holder: Holder = { command, runId, pid: process.pid, since };
    await writeFileAtomic(path.join(folder, 'lock.json'), `${JSON.stringify(holder)}\n`);
  };
  await tell(null);
  return { tell, [Symbol.dispose]: () => void database.close() };
}

async function holderOf(folder: string): Promise<Holder | null> {
  const text = await readFile(path.join(folder, 'lock.json'), 'utf8').catch(() => '');
  return holderShape.safeParse(jsonOf(text)).data ?? null;
}

function describe(holder: Holder | null): string {
  if (holder === null) return 'another self-heal';
  const { command, runId, pid, since } = holder;
  const age = prettyMs(Math.max(0, Date.now() - Date.parse(since)), { compact: true });
  return `\`self-heal ${command}\`${runId === null ? '' : ` (run ${runId})`}, process ${pid}, for ${age}`;
}

function locked(holder: Holder | null): Problem {
  return {
    kind: 'project-locked',
    message: `this project is in use by ${describe(holder)}`,
    remedy:
      'Wait for it with --wait, or interrupt it. Commands that only read, such as inspect and report, still work.',
  };
}
