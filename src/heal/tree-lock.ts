import type { Session } from './session.js';

/**
 * Does what needs nothing of the project's tree, an agent's work or a wait, without the lock on it, so that other causes go on meanwhile; then
 * takes the lock again. Whoever heals a cause holds it otherwise: a copy is made and brought up to date, and a patch is applied, re-run and
 * reverted, by one at a time.
 */
export async function withoutTree<T>({ tree }: Pick<Session, 'tree'>, work: () => Promise<T>): Promise<T> {
  tree.release();
  try {
    return await work();
  } finally {
    await tree.acquire();
  }
}
