import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isCommandFile } from '../agents/command-files.js';
import type { BlameBase, BlamedCommit, BlamedHunk } from '../model/blame.js';
import { git, gitBytes, gitDiff } from './git.js';
import type { GitChanges } from './git-trees.js';
import { relativePath } from '../paths.js';
import type { ContentStore } from './change.js';
import { type FileEdit, type FileState, readFileState } from './file-state.js';
import { changesPackages } from './install.js';
import { isWritable } from './project-files.js';
import { type ChangedFile, compareFile, type ExactHunk, revertHunks } from './hunks.js';
import { tryOr } from '../result.js';

/** A hunk that may have broken the test. */
export interface Candidate {
  readonly hunk: ExactHunk;
  readonly file: ChangedFile;
  /** The newest commit that touched its file, counted from the base; files with uncommitted changes come last. */
  readonly step: number;
  readonly inTests: boolean;
}

/** The workspace root, to which paths are relative, and the store of contents. */
interface StoredTree {
  readonly root: string;
  readonly contents: ContentStore;
}

/** True if `self-heal init` writes this file: no test depends on it, and in the first runs it is not committed yet. */
export function isInitFile(file: string): boolean {
  return /(?:^|\/)(?:agents\.ya?ml|\.gitignore)$/.test(file) || isCommandFile(file);
}

/** Returns the changed files that can be reverted. */
export async function listRevertiblePaths(
  { root, changes }: GitChanges,
  { isExcluded }: { readonly isExcluded: (file: string) => boolean },
): Promise<string[]> {
  const isOmitted = await createOmissionCheck(root);
  return changes.flatMap(({ kind, path: file }) =>
    kind === 'file' && isWritable(file) && !isExcluded(file) && !isOmitted(file) ? [file] : [],
  );
}

/** Compares these files with their earlier state. */
export async function compareFiles(
  { root, before }: GitChanges,
  paths: readonly string[],
): Promise<ChangedFile[]> {
  const old = await before.readFiles(paths);
  return paths.map((file) => {
    const now = tryOr(null, () => decodeLatin1(readFileSync(path.join(root, file))));
    const bytes = old.get(file);
    return compareFile(file, bytes ? keepLineEnds(now, decodeLatin1(bytes)) : null, now);
  });
}

/** If more files have changed, the base is too old to say what broke a test. */
export const MAX_CHANGED_FILES = 2000;
/** How many commits to go back if no green commit is known. */
const RECENT_COMMITS = 10;

/** Returns the commit `RECENT_COMMITS` before HEAD, or the first one; null if HEAD has no parent. */
export async function findRecentCommit(root: string): Promise<string | null> {
  const listed = await git(root, ['rev-list', '--first-parent', `--max-count=${RECENT_COMMITS + 1}`, 'HEAD']);
  const [, ...before] = (listed ?? '').trim().split('\n');
  return before.at(-1) ?? null;
}

/** Creates a predicate for files that a sparse checkout omits: their absence is not a change. */
async function createOmissionCheck(root: string): Promise<(file: string) => boolean> {
  const listed = ((await git(root, ['ls-files', '-t', '-z'])) ?? '').split('\0');
  const omittedFiles = new Set(listed.flatMap((line) => (line.startsWith('S ') ? [line.slice(2)] : [])));
  return (file) => omittedFiles.has(file);
}

export interface LoggedCommit {
  readonly commit: BlamedCommit;
  /** The files that it changed; empty for a merge. */
  readonly files: readonly string[];
}

/** Returns all commits, newest first, including merged ones, because CI systems check out a merge commit for a pull request. */
export async function listCommitsSince(root: string, base: string): Promise<LoggedCommit[]> {
  const args = ['--topo-order', '--name-only', '--no-renames', '-z', '--format=%x01%H%x02%an%x02%aI%x02%s'];
  const text = String(await gitBytes(root, ['log', ...args, `${base}..HEAD`]));
  return text
    .split('\u0001')
    .slice(1)
    .map((record) => {
      const [head = '', ...rest] = record.split('\0');
      const [id = '', author = '', date = '', subject = ''] = head.split('\u0002');
      const files = rest.map((file) => file.replace(/^\n/, '')).filter((file) => file !== '');
      return { commit: { id, author, date, subject }, files };
    });
}

/** Creates a function that returns the number of the commit that last changed a file, or the highest number for uncommitted changes. */
export async function createStepLookup(
  root: string,
  log: readonly LoggedCommit[],
): Promise<(file: string) => number> {
  const dirty = new Set(String(await gitDiff(root, ['--name-only', '-z', 'HEAD', '--'])).split('\0'));
  const steps = new Map<string, number>();
  for (const [step, { files }] of log.toReversed().entries()) for (const file of files) steps.set(file, step);
  return (file) => (dirty.has(file) ? log.length : (steps.get(file) ?? log.length));
}

/** Returns the hunks of these files that can be reverted without installing packages, newest commit first. */
export async function listCandidates(
  files: readonly ChangedFile[],
  {
    isTest,
    findStepIndex,
    ...tree
  }: StoredTree & {
    readonly isTest: (file: string) => boolean;
    readonly findStepIndex: (file: string) => number;
  },
): Promise<Candidate[]> {
  const candidates: Candidate[] = [];
  for (const file of files) {
    if (isInitFile(file.path) || file.before === file.after) continue;
    const edits = await createEdits([{ file, hunks: file.hunks }], tree);
    if (edits === null || (await changesPackages(edits, tree.contents))) continue;
    const [step, inTests] = [findStepIndex(file.path), isTest(file.path)];
    candidates.push(...file.hunks.map((hunk) => ({ hunk, file, step, inTests })));
  }
  // Sorting is stable, so hunks stay in the order of their file.
  return candidates.toSorted((a, b) => b.step - a.step || (a.file.path < b.file.path ? -1 : 1));
}

/** Creates the edits that revert these candidates in the current tree; null if a file has changed since it was read. */
export async function createRevertEdits(
  reverted: readonly Candidate[],
  tree: StoredTree,
): Promise<FileEdit[] | null> {
  const files = [...new Set(reverted.map(({ file }) => file))];
  const listHunks = (file: ChangedFile) =>
    reverted.flatMap((candidate) => (candidate.file === file ? [candidate.hunk] : []));
  return createEdits(
    files.map((file) => ({ file, hunks: listHunks(file) })),
    tree,
  );
}

async function createEdits(
  reverted: readonly { readonly file: ChangedFile; readonly hunks: readonly ExactHunk[] }[],
  { root, contents }: StoredTree,
): Promise<FileEdit[] | null> {
  const edits: FileEdit[] = [];
  for (const { file, hunks } of reverted) {
    const before = readFileState(root, file.path);
    const expectedHash = file.after === null ? null : await contents.put(Buffer.from(file.after, 'latin1'));
    if (before === 'other' || (before?.hash ?? null) !== expectedHash) return null;
    const text = revertHunks(file, new Set(hunks));
    const after: FileState | null =
      text === null
        ? null
        : {
            kind: 'file',
            hash: await contents.put(Buffer.from(text, 'latin1')),
            mode: before?.mode ?? 0o644,
          };
    edits.push({ path: file.path, before, after });
  }
  return edits;
}

/** The root of the repository, to which hunk paths are relative, and the project's folder, to which paths in reports are relative. */
export interface HunkRoots {
  readonly root: string;
  readonly cwd: string;
  /** Masks texts before they are cut. */
  readonly clean?: (text: string) => string;
}

/** Formats hunks for reports and prompts. */
export async function formatHunks(
  hunks: readonly ExactHunk[],
  { base, commits }: { readonly base: BlameBase; readonly commits: readonly BlamedCommit[] },
  { root, cwd, clean }: HunkRoots,
): Promise<Omit<BlamedHunk, 'inTests'>[]> {
  const blamed: Omit<BlamedHunk, 'inTests'>[] = [];
  for (const hunk of hunks) {
    const ids = await findCommitsOfHunk(hunk, base.commit, { root });
    blamed.push({
      file: relativePath(cwd, path.join(root, hunk.file)),
      line: hunk.newStart,
      old: formatLines(hunk.old, clean),
      now: formatLines(hunk.now, clean),
      whole: hunk.whole,
      commit: ids.includes(uncommitted) ? null : (commits.find(({ id }) => ids.includes(id)) ?? null),
    });
  }
  return blamed;
}

/** The commit id that `git blame` prints for uncommitted lines. */
export const uncommitted = '0'.repeat(40);

/**
 * Returns the commits that added a hunk's lines or, if it only removes lines, the newest one that removed them. If the file has changed since the
 * hunk was computed, `contents` is a file with its former text.
 */
export async function findCommitsOfHunk(
  { file, newStart, old, now, whole }: ExactHunk,
  base: string,
  { root, contents }: { readonly root: string; readonly contents?: string | undefined },
): Promise<readonly string[]> {
  if (now.length > 0) {
    const lines = whole ? [] : ['-L', `${newStart},+${now.length}`];
    const source = contents === undefined ? [] : ['--contents', contents];
    const output = await git(root, ['blame', '-s', '-l', ...source, ...lines, `^${base}`, '--', file]);
    return output === null ? [] : Array.from(output.matchAll(/^[\da-f]{40,}/gm), ([id]) => id);
  }
  const removed = Buffer.from(old.join(''), 'latin1').toString().replaceAll('\r\n', '\n');
  const headText = await git(root, ['show', `HEAD:${file}`]);
  if (whole ? (headText === null) === (old.length === 0) : headText?.includes(removed)) return [uncommitted];
  const search = whole ? [] : [`-S${removed}`];
  const id = await git(root, ['log', '--max-count=1', '--format=%H', ...search, `${base}..HEAD`, '--', file]);
  return id ? [id.trim()] : [];
}

const MAX_LINES = 400;
const MAX_LINE_LENGTH = 2000;

function formatLines(lines: readonly string[], clean = (text: string) => text): string[] {
  if (lines.length === 0) return [];
  const text = Buffer.from(lines.slice(0, MAX_LINES).join(''), 'latin1').toString('utf8');
  const all = clean(text.replace(/\r?\n$/, '')).split(/\r?\n/);
  return all.map((line) => line.slice(0, MAX_LINE_LENGTH));
}

/** Decodes one character per byte, which keeps every byte. */
function decodeLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

/** Keeps the line endings of the file on disk, because git may store different ones. */
function keepLineEnds(now: string | null, text: string): string {
  return now?.includes('\r\n') && !text.includes('\r') ? text.replaceAll('\n', '\r\n') : text;
}
