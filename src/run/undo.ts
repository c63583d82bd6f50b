import path from 'node:path';
import { isKept } from '../core/attempt.js';
import { readReport } from './find-run.js';
import type { RunState } from './run-state.js';
import { type Change, ContentsMissing, contentsOf, readChange } from '../workspace/change.js';
import { changesPackages, installOf } from '../workspace/install.js';
import { closeJournal, type Journal, writeJournal } from '../workspace/journal.js';
import { planOf } from '../workspace/applied-changes.js';
import { writeFiles, type Written } from '../workspace/write-files.js';

/**
 * Returns what a run left changed, in order: its agents' kept changes, then the blamed changes that a person had reverted. Rejects with
 * `ContentsMissing` if its events or one of the changes can no longer be read.
 */
export async function keptChanges(dir: string, run: RunState): Promise<Change[]> {
  const { causes, reverted, undone, ended } = run;
  // A run writes its report after its last event.
  if (ended === null && (await readReport(dir)) !== null) throw new ContentsMissing('its events are damaged');
  const judged = (undone ? [] : causes).flatMap(({ attempts }) =>
    attempts.flatMap((one) => one.judged ?? []),
  );
  const ids = judged.filter(isKept).flatMap(({ change }) => change ?? []);
  const inOrder = ids.toSorted((a, b) => Number(a) - Number(b));
  const all = [...inOrder, ...new Set(reverted)];
  const changes = await Promise.all(all.map((id) => readChange(dir, id)));
  const found = changes.filter((one) => one !== null);
  if (found.length < all.length) throw new ContentsMissing('a change is gone');
  return found;
}

/**
 * Reverts changes in the project. Files that somebody has changed since are left alone and listed (HN-8). If this is killed, the next
 * command finishes it (HN-2). Rejects with `ContentsMissing` if the original contents are no longer stored.
 */
export async function undo(
  project: string,
  run: { readonly runId: string; readonly dir: string },
  changes: readonly Change[],
): Promise<Written & { readonly installed: string | null }> {
  const contents = contentsOf(run.dir);
  const root = path.resolve(project, changes[0]?.root ?? '');
  const ids = changes.map(({ id }) => id);
  const edits = changes.flatMap((one) => one.edits);
  const journal: Journal = {
    ...planOf(changes, new Set(ids)),
    runId: run.runId,
    root,
    changes: ids,
    purpose: 'undo',
    install: await changesPackages(edits, contents),
  };
  await writeJournal(project, journal);
  const undone = await writeFiles(root, journal, contents).catch(async (error: unknown) => {
    // Then nothing was written, and there is nothing to finish.
    if (error instanceof ContentsMissing) await closeJournal(project);
    throw error;
  });
  const install = journal.install && undone.written.length > 0 ? await installOf(project, root) : null;
  await install?.run(run);
  await closeJournal(project);
  return { ...undone, installed: install?.command ?? null };
}

/** For `catch`: null for `ContentsMissing`; rejects with any other error. */
export function nullIfMissing(error: unknown): null {
  if (error instanceof ContentsMissing) return null;
  throw error;
}
