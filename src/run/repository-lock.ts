import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type Libsql from 'libsql';
import { gitRootOf } from '../git-root.js';
import { type LockMode, trySqliteLock } from './sqlite-lock.js';

/** What one run holds of a repository that other projects may be part of. */
export interface RepositoryLock extends Disposable {
  /**
   * Holds it in this mode instead of the one before: `shared` while tests run on files that nobody may change, `exclusive` while files are
   * changed, if only for one run of a test. Waits for others until the signal aborts. Returns whether it had to wait.
   */
  hold(mode: LockMode): Promise<'held' | 'waited' | 'aborted'>;
}

/** Who requests the lock. */
interface LockRequest {
  /** Ends a wait; if it is aborted from the start, nobody waits. */
  readonly signal: AbortSignal;
  /** Called once for each wait. */
  readonly onWait: (text: string) => void;
}

const RETRY_MS = 200;

/**
 * Creates the lock of the repository that a project is in. Each project has a lock of its own, but the fixes of one, and the changes that a
 * search for the blame takes out, are in files that the tests of another may use (HN-2). Without a repository, or in one whose `.git` is
 * read-only, nothing is locked.
 */
export function repositoryLock(project: string, { signal, onWait }: LockRequest): RepositoryLock {
  let held: Libsql.Database | null = null;
  const release = () => {
    held?.close();
    held = null;
  };
  return {
    hold: async (mode) => {
      release();
      const folder = await gitFolderOf(project);
      if (folder === null) return 'held';
      const file = path.join(folder, 'self-heal.lock');
      for (let told = false; ; told = true) {
        try {
          held = await trySqliteLock(file, mode);
        } catch {
          return 'held';
        }
        if (held) return told ? 'waited' : 'held';
        if (signal.aborted) return 'aborted';
        if (!told) onWait(waits[mode]);
        await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    },
    [Symbol.dispose]: release,
  };
}

const waits: Record<LockMode, string> = {
  shared: 'waiting for another self-heal, which is changing files of this repository …',
  exclusive: 'waiting for another self-heal in this repository before any file is changed …',
};

/** Returns the repository's own folder, which `.git` names if it is a file, as in a worktree; null without a repository. */
async function gitFolderOf(project: string): Promise<string | null> {
  const root = gitRootOf(project);
  if (root === null) return null;
  const named = await readFile(path.join(root, '.git'), 'utf8').catch(() => '');
  const [, folder = '.git'] = /^gitdir: (.+?)\s*$/m.exec(named) ?? [];
  return path.resolve(root, folder);
}
