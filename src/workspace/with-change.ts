import { describeSkippedFile } from './applied-changes.js';
import type { Change, ContentStore } from './change.js';
import type { Workspace } from './workspace.js';

/**
 * Runs `work` while a change is in the project's own tree, under a journal that restores the tree after Ctrl-C or a kill (HN-2). Returns null if the
 * change could not be applied.
 */
export async function withChange<T>(
  {
    workspace,
    contents,
    warn,
  }: {
    readonly workspace: Pick<Workspace, 'apply' | 'revert'>;
    readonly contents: ContentStore;
    readonly warn: (message: string) => void;
  },
  change: Change,
  work: () => Promise<T>,
): Promise<{ readonly value: T } | null> {
  const applied = await workspace.apply(change);
  if (applied.kind !== 'applied') return null;
  try {
    return { value: await work() };
  } finally {
    const { id, edits } = applied.change;
    const { leftAlone } = await workspace.revert([id]);
    for (const { path: file, before } of edits.filter((edit) => leftAlone.includes(edit.path)))
      warn(describeSkippedFile(file, before, contents));
  }
}
