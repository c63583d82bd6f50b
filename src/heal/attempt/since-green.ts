import path from 'node:path';
import { groupBy } from '../../group-by.js';
import { canBeReverted } from '../../model/blame.js';
import type { Cause, DiagnosedFailure } from '../../model/cause.js';
import { relativePath } from '../../paths.js';
import { createLastGreenLookup } from '../../run/last-green.js';
import { compareWithState } from '../../run/tree-state.js';
import {
  compareFiles,
  createRevertEdits,
  findRecentCommit,
  isInitFile,
  listCandidates,
  listRevertiblePaths,
  MAX_CHANGED_FILES,
} from '../../workspace/candidates.js';
import { type ContentStore, openContentStore, readChange } from '../../workspace/change.js';
import type { FileEdit, FileState } from '../../workspace/file-state.js';
import { compareWithGit, type GitChanges, type NoBase } from '../../workspace/git-trees.js';
import type { Session } from '../session.js';
import type { FixedFile } from './reverted-hunks.js';

// Finds the changes since the tests of a cause were green. An earlier run stored that state, so this needs no search for the change to blame.

/**
 * Compares the project with the last green state of a test. If none is stored, compares it with the last commit, with the start of the branch, and
 * with an older commit.
 */
export async function listChangesSinceGreen(cwd: string, lead: DiagnosedFailure): Promise<GitChanges[]> {
  const green = await compareWithGreenState(cwd, lead);
  if (green) return [green];
  const all: (GitChanges | NoBase)[] = [];
  for (const ref of ['HEAD', null, (await findRecentCommit(cwd)) ?? 'HEAD'])
    all.push(await compareWithGit(cwd, ref));
  return all.flatMap((changes) => ('kind' in changes ? [] : [changes]));
}

/** Compares the project with the state in which an earlier run saw a test green; null if none is stored. */
async function compareWithGreenState(cwd: string, lead: DiagnosedFailure): Promise<GitChanges | null> {
  const green = await createLastGreenLookup(cwd)(lead);
  if (!green) return null;
  const changes = await compareWithState(cwd, green).catch(() => compareWithGit(cwd, green.commit));
  return 'kind' in changes ? null : changes;
}

/** Reads the files of a fix in three states; `edits` may come from several attempts, oldest first. */
export async function readFixedFiles(
  { root, contents }: { readonly root: string; readonly contents: Pick<ContentStore, 'get'> },
  edits: readonly FileEdit[],
  since: GitChanges | null,
): Promise<FixedFile[]> {
  const files = [...groupBy(edits, (edit) => edit.path)];
  const paths = files.map(([file]) => file);
  const green = since && (await readGreenTexts(since, root, paths));
  const readText = async (state: FileState | null | undefined) =>
    state?.kind === 'file' ? decode(await contents.get(state.hash)) : null;
  return Promise.all(
    files.map(async ([file, fileEdits]) => ({
      path: file,
      ...(green && { green: green.get(file) ?? null }),
      red: await readText(fileEdits[0]?.before),
      now: await readText(fileEdits.at(-1)?.after),
    })),
  );
}

/** Returns the texts that files in this folder had when a test was green, by path; a file that did not exist has none. */
export async function readGreenTexts(
  { root, before }: GitChanges,
  folder: string,
  files: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const toRootPath = (file: string) => relativePath(root, path.join(folder, file));
  const read = await before.readFiles(files.map(toRootPath));
  return new Map(
    files.flatMap((file) => {
      const bytes = read.get(toRootPath(file));
      return bytes ? [[file, decode(bytes)]] : [];
    }),
  );
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString().replaceAll('\r\n', '\n');
}

/** True if the app has changed since the tests of a cause were green, so that its author may have intended the new behavior. */
export async function hasAppChanged(session: Session, { lead }: Cause): Promise<boolean> {
  const isExcluded = createExclusionCheck(session);
  const all = await listChangesSinceGreen(session.cwd, lead);
  return all.some(({ changes }) => changes.some((changed) => !isExcluded(changed.path)));
}

/** True if the tests that a patch edits had changed before it, since they were green. */
export async function haveTestsChanged(
  { cwd, workspace: { root }, folder, isTest }: Session,
  { lead }: Cause,
  patch: string,
): Promise<boolean> {
  const edits = readChange(folder.dir, patch)?.edits.filter((edit) => isTest(edit.path)) ?? [];
  const project = { root, contents: openContentStore(folder.dir) };
  const files = await readFixedFiles(project, edits, await compareWithGreenState(cwd, lead));
  return files.some(({ green, red }) => green !== undefined && green !== red);
}

/**
 * Returns the edits that revert the app's change to blame, if a search has found it, or else all changes to the app since the test was green; null if
 * neither is known.
 */
export async function createAppRevert(
  session: Session,
  { lead, blame }: Cause,
): Promise<readonly FileEdit[] | null> {
  const { workspace, folder, isTest, cwd } = session;
  if (blame) return canBeReverted(blame) ? (readChange(folder.dir, blame.change)?.edits ?? null) : null;
  const since = await compareWithGreenState(cwd, lead);
  if (!since || path.resolve(since.root) !== path.resolve(workspace.root)) return null;
  const tree = { root: workspace.root, contents: openContentStore(folder.dir) };
  const paths = await listRevertiblePaths(since, { isExcluded: createExclusionCheck(session) });
  if (paths.length > MAX_CHANGED_FILES) return null;
  const files = await compareFiles(since, paths);
  const edits = await createRevertEdits(
    await listCandidates(files, { ...tree, isTest, findStepIndex: () => 0 }),
    tree,
  );
  return edits === null || edits.length === 0 ? null : edits;
}

/** Returns a predicate for files whose changes are not the app author's: tests, files that fixes have edited, and self-heal's own files. */
function createExclusionCheck({ workspace, isTest }: Session): (file: string) => boolean {
  const editedByFixes = workspace.listEditedFiles();
  return (file) => editedByFixes.has(file) || isTest(file) || isInitFile(file);
}
