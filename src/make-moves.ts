import type { Move } from './running.js';
import type { TakenBack, Workspace } from './workspace/workspace.js';

/**
 * Makes several moves, in their order; a file that somebody has changed meanwhile stays, also for the moves that follow. What was moved
 * already, by somebody who was killed at it, counts as neither.
 */
export async function makeMoves(workspace: Workspace, moves: readonly Move[]): Promise<TakenBack> {
  const restored = new Set<string>();
  const leftAlone = new Set<string>();
  for (const { before, after } of moves) {
    const back = await workspace.takeBack(before, after, [...leftAlone]);
    const left = new Set(back.leftAlone);
    // An older state than the one that was looked for is no edit of somebody else's.
    for (const { path } of leftAlone.size > 0 ? await workspace.changes(before, after) : []) {
      if (!left.has(path)) leftAlone.delete(path);
    }
    for (const file of back.restored) restored.add(file);
    for (const file of left) leftAlone.add(file);
  }
  return { restored: [...restored].filter((file) => !leftAlone.has(file)), leftAlone: [...leftAlone] };
}
