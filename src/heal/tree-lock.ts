import type { Session } from './session.js';

/**
 * Runs work that does not need the project's tree (an agent's work, or a wait) without holding the lock, so that other causes can
 * proceed; then takes the lock again. At all other times, whoever heals a cause holds the lock: one cause at a time makes or updates a
 * copy, and applies, re-runs and reverts a patch.
 */
export async function withoutTree<T>({ tree }: Pick<Session, 'tree'>, work: () => Promise<T>): Promise<T> {
  tree.release();
  try {
    return await work();
  } finally {
    await tree.acquire();
  }
}
