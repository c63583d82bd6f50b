import type { Cause } from '../../model/cause.js';
import { shortenId } from '../../model/blame.js';
import type { Note } from '../../model/guard-findings.js';
import type { PendingAttempt } from '../../model/attempt.js';
import { findCommitsOfHunk, listCommitsSince, uncommitted } from '../../workspace/candidates.js';
import { type Change, openContentStore, readChange } from '../../workspace/change.js';
import type { FileEdit } from '../../workspace/file-state.js';
import type { ExactHunk } from '../../workspace/hunks.js';
import type { GitChanges } from '../../workspace/git-trees.js';
import type { CauseWork } from '../cause-work.js';
import { isOwnAssertion } from '../own-assertion.js';
import type { Session } from '../session.js';
import { listChangesSinceGreen, readFixedFiles } from './since-green.js';
import { type RevertedHunk, findRevertedHunks } from './reverted-hunks.js';

/** The part of an author's change that a fix reverts. */
export interface Revert {
  /** The commits, as `abc1234 "subject"`, or uncommitted changes. */
  readonly commits: string;
  /** The first of the changes: its file, relative to the root of the workspace, and its line before the fix. */
  readonly at: { readonly file: string; readonly line: number };
  readonly hunks: readonly RevertedHunk[];
}

/**
 * Finds the changes to the app that a fix in the project reverts, among those made since its tests were green, or else the recent ones; null if there
 * are none. Compares texts, so it needs no search for the change to blame.
 */
export async function findRevert(
  session: Session,
  { lead }: Cause,
  change: Change | null,
): Promise<Revert | null> {
  if (!change) return null;
  const project = { root: session.workspace.root, contents: openContentStore(session.folder.dir) };
  const edits = listOwnEdits(session, change);
  const all: { readonly since: GitChanges; readonly hunks: readonly RevertedHunk[] }[] = [];
  for (const since of await listChangesSinceGreen(session.cwd, lead))
    all.push({ since, hunks: (await readFixedFiles(project, edits, since)).flatMap(findRevertedHunks) });
  const found =
    all.find(({ hunks }) => hunks.some(({ isWhole }) => isWhole)) ?? all.find(({ hunks: [first] }) => first);
  const [first] = found?.hunks ?? [];
  if (!found || !first) return null;
  const names = new Set<string>();
  for (const { hunk } of found.hunks)
    names.add(await formatCommit(session, { hunk, change, since: found.since }));
  const at = { file: first.hunk.file, line: first.hunk.newStart };
  return { commits: [...names].join(' and '), at, hunks: found.hunks };
}

/**
 * True if a person must decide about a fix that reverts a change, since an intended change looks like a fault to a test. That is so if only the test's
 * own assertion failed and the fix reverts a whole change, or texts and markup that the test expects. If a person has given guidance, the report only
 * names the revert.
 */
export function needsPerson(
  { settings }: Session,
  { cause, memory }: CauseWork,
  { pending, revert }: { readonly pending: PendingAttempt; readonly revert: Revert },
): boolean {
  const isDecided = pending.proposedBy === 'person' || memory.guidance !== null;
  if (isDecided || settings.verify.intent === 'tests' || !isOwnAssertion(cause.lead)) return false;
  const expected = cause.members.flatMap(({ evidence }) =>
    evidence.errors.map(({ message, snippet }) => `${message}\n${snippet ?? ''}`),
  );
  return revert.hunks.some(
    ({ isWhole, texts }) => isWhole || texts.some((text) => expected.some((other) => other.includes(text))),
  );
}

/** Describes a revert: `undoes a change from abc1234 "Friendlier words"`. */
export function describeRevert({
  commits,
  hunks,
}: Pick<Revert, 'commits'> & { readonly hunks: readonly Pick<RevertedHunk, 'isWhole'>[] }): string {
  return `undoes ${hunks.some(({ isWhole }) => isWhole) ? 'a change' : 'part of a change'} from ${commits}`;
}

/** Creates a note about a revert for the reviewer, at the changed lines. */
export function createRevertNote(revert: Revert): Note {
  return { ...revert.at, says: `the fix ${describeRevert(revert)}` };
}

/** Returns a fix's edits to the app, without files that other fixes in the project also edit. */
function listOwnEdits({ workspace, folder, isTest }: Session, change: Change): FileEdit[] {
  const others = workspace
    .listApplied()
    .flatMap((id) => (id === change.id ? [] : readChange(folder.dir, id)));
  const isShared = (file: string) => others.some((other) => other?.edits.some((edit) => edit.path === file));
  return change.edits.filter((edit) => !isTest(edit.path) && !isShared(edit.path));
}

/** Names the commit that made a change: `abc1234 "Friendlier words"`. */
async function formatCommit(
  { workspace: { root }, folder }: Session,
  { hunk, change, since }: { readonly hunk: ExactHunk; readonly change: Change; readonly since: GitChanges },
): Promise<string> {
  const before = change.edits.find(({ path: file }) => file === hunk.file)?.before;
  const contents = before ? openContentStore(folder.dir).contentPath(before.hash) : undefined;
  // As in exact hunks: one character for each byte.
  const old = hunk.old.map((line) => Buffer.from(line).toString('latin1'));
  const ids = await findCommitsOfHunk({ ...hunk, old }, since.base, { root, contents });
  const log = ids.includes(uncommitted) ? [] : await listCommitsSince(root, since.base);
  const commit = log.find(({ commit: { id } }) => ids.includes(id))?.commit;
  return commit ? `${shortenId(commit.id)} "${commit.subject}"` : 'uncommitted edits';
}
