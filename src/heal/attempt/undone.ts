import path from 'node:path';
import { hunksFor } from '../../agents/changes.js';
import type { PendingAttempt } from '../../model/attempt.js';
import type { BlamedHunk } from '../../model/blame.js';
import type { Cause } from '../../model/cause.js';
import type { Note } from '../../model/guard-findings.js';
import { relativePath } from '../../paths.js';
import { lastGreenStates } from '../../run/last-green.js';
import { type Change, contentsOf } from '../../workspace/change.js';
import type { FileState } from '../../workspace/file-state.js';
import { git } from '../../workspace/git.js';
import type { AppliedChange, CauseWork } from '../cause-work.js';
import { isOwnAssertion } from '../own-assertion.js';
import type { Session } from '../session.js';
import { type EditedFile, type RevertedLines, revertedLines, revertedLinesAmong } from './undoing.js';

/** Returns what a fix takes back of the change that broke its tests, or of what changed lately; null for nothing. */
export async function linesRevertedBy(
  session: Session,
  { blame }: Cause,
  { change, changed }: AppliedChange,
): Promise<RevertedLines | null> {
  const hunks = blame?.hunks ?? changed;
  const edited = change && hunks.length > 0 ? await editedFiles(session, change, blame?.base.commit) : [];
  return blame ? revertedLines(blame, edited) : revertedLinesAmong(changed, edited);
}

/**
 * Whether a person is asked about a fix that takes something back: to a test, a change that its author meant looks like a fault. It is, if the fix
 * takes back all of the blamed lines, or those of their texts and markup that a test expects. With guidance, a person has said that the tests may not
 * follow the app: it is only named.
 */
export function isForPerson(
  { settings }: Session,
  { cause, known }: CauseWork,
  { pending, undone }: { readonly pending: PendingAttempt; readonly undone: RevertedLines },
): boolean {
  const isDecided = pending.proposedBy === 'person' || known.guidance !== null;
  if (isDecided || settings.verify.intent === 'tests' || !isOwnAssertion(cause.lead)) return false;
  const texts = cause.members.flatMap(({ evidence }) =>
    evidence.errors.map(({ message, snippet }) => `${message}\n${snippet ?? ''}`),
  );
  return undone.isWhole || undone.texts.some((text) => texts.some((other) => other.includes(text)));
}

/** Says what a fix takes back: `undoes all of abc1234 "Friendlier words"`. */
export function describeRevert({ how, of }: RevertedLines): string {
  return `undoes ${how === 'all' ? 'all' : 'part'} of ${of}`;
}

/** Names it for the reviewer, at the blamed lines. */
export function noteOfRevert({ cwd, workspace }: Session, undone: RevertedLines): Note {
  const { file, line } = undone.at;
  return {
    file: relativePath(workspace.root, path.resolve(cwd, file)),
    line,
    says: `the fix ${describeRevert(undone)}`,
  };
}

/** Returns what changed since a test was green, where no search has said what broke it and, unless `isForAny`, only the test's assertion decided. */
export async function changedLately(
  session: Session,
  { blame, lead }: Cause,
  isForAny = false,
): Promise<BlamedHunk[]> {
  if (blame || !(isForAny || isOwnAssertion(lead))) return [];
  const { cwd, workspace, redactor } = session;
  const edited = workspace.edited();
  const hunks = await hunksFor({
    root: cwd,
    tree: cwd,
    lead,
    lastGreen: lastGreenStates(cwd),
    isLeftOut: (file) => edited.has(file),
    clean: (text) => redactor.clean(text),
  }).catch(() => []);
  return hunks.map((hunk) => ({ ...hunk, inTests: false }));
}

/** Returns the files of a change with their texts, relative to the project, also at the commit at which its test was green. */
async function editedFiles(
  { cwd, workspace, folder }: Session,
  { edits }: Change,
  green: string | undefined,
): Promise<EditedFile[]> {
  const contents = contentsOf(folder.dir);
  const textOf = async (state: FileState | null) =>
    state?.kind === 'file' ? (await contents.get(state.hash)).toString('utf8') : null;
  return Promise.all(
    edits.map(async (edit) => {
      const file = relativePath(cwd, path.join(workspace.root, edit.path));
      return {
        file,
        before: await textOf(edit.before),
        after: await textOf(edit.after),
        green: green === undefined ? null : await git(cwd, ['show', `${green}:./${file}`]),
      };
    }),
  );
}
