import type { Workspace } from './workspace.js';

/** The workspace of a run in which no agent works: it has nothing to copy, and costs nothing (CL-4). */
export function idleWorkspace(root: string): Workspace {
  const never = () => Promise.reject(new Error('No agent works in this run.'));
  return {
    root,
    prepare: () => undefined,
    ready: never,
    edit: () => {
      throw new Error('No agent works in this run.');
    },
    collect: never,
    apply: never,
    without: never,
    revert: never,
    edited: () => new Set(),
    decided: async () => undefined,
    close: async () => undefined,
  };
}
