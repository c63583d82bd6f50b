import path from 'node:path';
import { type Undoing, undoing } from '../../blame/undoing.js';
import type { Cause } from '../../core/cause.js';
import type { Note } from '../../core/guard/note.js';
import { relativePath } from '../../paths.js';
import { type Change, contentsOf } from '../../workspace/change.js';
import type { FileState } from '../../workspace/file-state.js';
import type { Session } from '../session.js';

/** Returns what a fix takes back of the change that broke its tests; null if it takes back nothing, or nobody knows what broke them (BL-6). */
export async function undoneBy(
  { cwd, workspace, folder }: Pick<Session, 'cwd' | 'workspace' | 'folder'>,
  { blame }: Cause,
  { edits }: Change,
): Promise<Undoing | null> {
  if (!blame) return null;
  const contents = contentsOf(folder.dir);
  const textOf = async (state: FileState | null) =>
    state?.kind === 'file' ? (await contents.get(state.hash)).toString('utf8') : null;
  const edited = await Promise.all(
    edits.map(async (edit) => ({
      file: relativePath(cwd, path.join(workspace.root, edit.path)),
      before: await textOf(edit.before),
      after: await textOf(edit.after),
    })),
  );
  return undoing(blame, edited);
}

/** Says what a fix takes back: `undoes all of abc1234 "Friendlier words"`. */
export function undoesInWords({ how, of }: Undoing): string {
  return `undoes ${how === 'all' ? 'all' : 'part'} of ${of}`;
}

/** Names it for the reviewer, at the blamed lines. */
export function noteOfUndoing(
  { cwd, workspace }: Pick<Session, 'cwd' | 'workspace'>,
  { blame }: Cause,
  undone: Undoing,
): Note[] {
  const [hunk] = blame?.hunks ?? [];
  if (!hunk) return [];
  const file = relativePath(workspace.root, path.resolve(cwd, hunk.file));
  return [{ file, line: hunk.line, says: `the fix ${undoesInWords(undone)}` }];
}

/**
 * Whether only a person can say if a fix is right: on the page, a change that its author meant looks like a fault. It is, if the fix takes back
 * all of the blamed lines, or those of their texts and markup that a test expects.
 */
export function isForPerson({ settings }: Pick<Session, 'settings'>, cause: Cause, undone: Undoing): boolean {
  if (settings.verify.intent === 'tests' || cause.lead.diagnosis.category !== 'ui-error') return false;
  const said = cause.members.flatMap(({ evidence }) =>
    evidence.errors.map(({ message, snippet }) => `${message}\n${snippet ?? ''}`),
  );
  return undone.isWhole || undone.texts.some((text) => said.some((one) => one.includes(text)));
}
