import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type Libsql from 'libsql';
import { gitRootOf } from '../git-root.js';
import { type LockMode, sqliteLock } from './sqlite-lock.js';

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
  /** Ends a wait; if it is aborted from the start, nobody waits. Without it, a wait ends only with the other's hold. */
  readonly signal?: AbortSignal;
  /** Called once for each wait. */
  readonly onWait: (text: string) => void;
}

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
      let waited = false;
      const goesOn = () => {
        if (signal?.aborted) return false;
        if (!waited) onWait(waits[mode]);
        waited = true;
        return true;
      };
      try {
        held = await sqliteLock(path.join(folder, 'self-heal.lock'), mode, goesOn);
      } catch {
        return 'held';
      }
      if (held === null) return 'aborted';
      return waited ? 'waited' : 'held';
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
