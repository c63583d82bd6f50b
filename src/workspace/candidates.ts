import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isCommandFile } from '../agents/command-files.js';
import type { BlameBase, BlamedCommit, BlamedHunk, Hunk } from '../model/blame.js';
import { git, gitBytes, gitDiff } from './git.js';
import { type GitChanges, gitChanges, type NoBase } from './git-trees.js';
import { relativePath } from '../paths.js';
import type { Contents } from './change.js';
import { type FileEdit, type FileState, stateOf } from './file-state.js';
import { changesPackages } from './install.js';
import { isWritable } from './project-files.js';
import { type ChangedFile, compareFile, type ExactHunk, without } from './hunks.js';
import { tryOr } from '../result.js';

/** A hunk that may be to blame. */
export interface Candidate {
  readonly hunk: ExactHunk;
  readonly file: ChangedFile;
  /** The newest commit that touched its file, counted from the base; files with uncommitted changes come last. */
  readonly step: number;
  readonly inTests: boolean;
}

/** What changed in the project's files since a state that may be green. */
export interface History {
  readonly base: BlameBase;
  /** In the order in which they are taken out: newest commit first, then by file. */
  readonly candidates: readonly Candidate[];
  /** The commits since the base, newest first. */
  readonly commits: readonly BlamedCommit[];
  /** Whether the repository has all its history, that is, is not a shallow clone. */
  readonly isWhole: boolean;
}

/** Where the history begins, and where its contents are stored. */
export interface HistoryRequest {
  /** The recorded root, to which file paths are relative. */
  readonly root: string;
  readonly contents: Contents;
  /** A commit named by a person, or null. */
  readonly named: string | null;
  /** A commit before HEAD at which the test was green here, or null. */
  readonly lastGreen: string | null;
  /** Whether to begin some commits before HEAD, for which nothing may be known to have been green. */
  readonly isOlder: boolean;
  readonly isTest: (file: string) => boolean;
  /** Whether a file is left out: self-heal edited it, or others have written to it during the run. */
  readonly isLeftOut: (file: string) => boolean;
}

/** With more files than this, the base is too old to find a single change. */
const MAX_FILES = 2000;

/** Appended if the repository is shallow, as CI systems clone it. */
export const notWhole = 'older commits are missing: fetch more history';

/** Whether a file is of those that `self-heal init` writes: no test depends on it, and in the first runs it is not committed yet. */
export function isInitFile(file: string): boolean {
  return /(?:^|\/)(?:agents\.ya?ml|\.gitignore)$/.test(file) || isCommandFile(file);
}

/**
 * Reads from git what may be to blame. Returns a text if that is impossible, and rejects if git lacks the objects (a partial clone without its
 * remote). Changes that would require installing packages are left out. Links, submodules and what a sparse checkout leaves out are no changes.
 */
export async function readHistory(request: HistoryRequest): Promise<History | string> {
  const { root, named, lastGreen } = request;
  const wanted = named ?? lastGreen;
  const branch = await gitChanges(root, wanted);
  // No default branch is known here, so only uncommitted changes remain.
  const isUnknown = 'kind' in branch && branch.kind !== 'unreadable' && named === null;
  const since = isUnknown ? await gitChanges(root, 'HEAD') : branch;
  if ('kind' in since) return whyNot(since);
  const head = (await git(root, ['rev-parse', 'HEAD']))?.trim() ?? '';
  const canBeOlder = wanted === null && since.base === head;
  const older = request.isOlder && canBeOlder ? await recent(root) : null;
  const changed = older === null ? since : await gitChanges(root, older);
  if ('kind' in changed) return whyNot(changed);
  if (path.resolve(changed.root) !== path.resolve(root))
    return 'the project is not a git repository of its own';
  const isWhole = (await git(root, ['rev-parse', '--is-shallow-repository']))?.trim() !== 'true';
  const paths = await pathsIn(changed, request);
  const base = changed.base === head ? `${head.slice(0, 7)} (HEAD)` : changed.base.slice(0, 7);
  if (paths.length === 0) return `no file differs from ${base}${isWhole ? '' : `, and ${notWhole}`}`;
  if (paths.length > MAX_FILES) return `too many files (${paths.length}) differ from ${base}`;
  const files = await compareFiles(changed, paths);
  const log = await commitsSince(root, changed.base);
  const found = older !== null ? 'recent' : changed.base === head ? 'head' : 'merge-base';
  const from = named !== null ? 'named' : wanted !== null ? 'last-green' : found;
  return {
    base: { commit: changed.base, from },
    candidates: await candidatesOf(files, { ...request, stepOf: await stepsIn(root, log) }),
    commits: log.map(({ commit }) => commit),
    isWhole,
  };
}

/** Returns the changed files that can be taken out. */
export async function pathsIn(
  { root, changes }: GitChanges,
  { isLeftOut }: Pick<HistoryRequest, 'isLeftOut'>,
): Promise<string[]> {
  const isAbsent = await absentFrom(root);
  return changes.flatMap(({ kind, path: file }) =>
    kind === 'file' && isWritable(file) && !isLeftOut(file) && !isAbsent(file) ? [file] : [],
  );
}

/** Compares these files with what they were. */
export async function compareFiles(
  { root, before }: GitChanges,
  paths: readonly string[],
): Promise<ChangedFile[]> {
  const old = await before.read(paths);
  return paths.map((file) => {
    const now = tryOr(null, () => textOf(readFileSync(path.join(root, file))));
    const bytes = old.get(file);
    return compareFile(file, bytes ? withEndsOf(now, textOf(bytes)) : null, now);
  });
}

/** How far to go back if nothing is known to have been green. */
const RECENT_COMMITS = 10;

/** Returns the commit that is this far before HEAD, or the first one; null if there is none before HEAD. */
export async function recent(root: string): Promise<string | null> {
  const listed = await git(root, ['rev-list', '--first-parent', `--max-count=${RECENT_COMMITS + 1}`, 'HEAD']);
  const [, ...before] = (listed ?? '').trim().split('\n');
  return before.at(-1) ?? null;
}

function whyNot({ kind: what, detail }: NoBase): string {
  if (what === 'unknown-base') return `git does not know the commit ${detail}`;
  if (what === 'no-merge-base')
    return `git finds no common ancestor of HEAD and ${detail}: fetch more history`;
  if (what === 'no-git') return 'git is not installed';
  if (what === 'no-repository') return 'the project is not a git repository';
  return `git cannot read the repository: ${detail}`;
}

/** Tells which files a sparse checkout leaves out; their absence is not a change. */
async function absentFrom(root: string): Promise<(file: string) => boolean> {
  const listed = ((await git(root, ['ls-files', '-t', '-z'])) ?? '').split('\0');
  const absent = new Set(listed.flatMap((line) => (line.startsWith('S ') ? [line.slice(2)] : [])));
  return (file) => absent.has(file);
}

export interface LoggedCommit {
  readonly commit: BlamedCommit;
  /** The files that it changed; none of a merge. */
  readonly files: readonly string[];
}

/** Returns all commits, newest first, including those that came by a merge: what CI systems check out for a pull request is a merge commit. */
export async function commitsSince(root: string, base: string): Promise<LoggedCommit[]> {
  const how = ['--topo-order', '--name-only', '--no-renames', '-z', '--format=%x01%H%x02%an%x02%aI%x02%s'];
  const text = String(await gitBytes(root, ['log', ...how, `${base}..HEAD`]));
  return text
    .split('\u0001')
    .slice(1)
    .map((one) => {
      const [head = '', ...rest] = one.split('\0');
      const [id = '', author = '', date = '', subject = ''] = head.split('\u0002');
      const files = rest.map((file) => file.replace(/^\n/, '')).filter((file) => file !== '');
      return { commit: { id, author, date, subject }, files };
    });
}

/** Returns when a file was last changed: the number of the commit, or the highest one for what is not committed. */
export async function stepsIn(root: string, log: readonly LoggedCommit[]): Promise<(file: string) => number> {
  const open = new Set(String(await gitDiff(root, ['--name-only', '-z', 'HEAD', '--'])).split('\0'));
  const steps = new Map<string, number>();
  for (const [at, { files }] of log.toReversed().entries()) for (const file of files) steps.set(file, at);
  return (file) => (open.has(file) ? log.length : (steps.get(file) ?? log.length));
}

/** Returns the hunks of these files that can be taken out without installing packages, in the order in which they are. */
export async function candidatesOf(
  files: readonly ChangedFile[],
  place: Pick<HistoryRequest, 'root' | 'contents' | 'isTest'> & { stepOf: (file: string) => number },
): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for (const file of files) {
    if (isInitFile(file.path) || file.before === file.after) continue;
    const edits = await editsFor([{ file, hunks: file.hunks }], place);
    if (edits === null || (await changesPackages(edits, place.contents))) continue;
    const [step, inTests] = [place.stepOf(file.path), place.isTest(file.path)];
    found.push(...file.hunks.map((hunk) => ({ hunk, file, step, inTests })));
  }
  // Sorting is stable, so hunks stay in the order of their file.
  return found.toSorted((a, b) => b.step - a.step || (a.file.path < b.file.path ? -1 : 1));
}

/** Returns how far apart two neighbors are: the search cuts between commits first, then between files. */
export function distanceBetween(one: Candidate, next: Candidate): number {
  if (one.step !== next.step) return 2;
  return one.file === next.file ? 0 : 1;
}

/** Returns the edits that take these candidates out of the current tree; null if a file has changed since it was read. */
export async function editsWithout(
  out: readonly Candidate[],
  place: Pick<HistoryRequest, 'root' | 'contents'>,
): Promise<FileEdit[] | null> {
  const files = [...new Set(out.map(({ file }) => file))];
  const hunksOf = (file: ChangedFile) => out.flatMap((one) => (one.file === file ? [one.hunk] : []));
  return editsFor(
    files.map((file) => ({ file, hunks: hunksOf(file) })),
    place,
  );
}

async function editsFor(
  taken: readonly { readonly file: ChangedFile; readonly hunks: readonly ExactHunk[] }[],
  { root, contents }: Pick<HistoryRequest, 'root' | 'contents'>,
): Promise<FileEdit[] | null> {
  const edits: FileEdit[] = [];
  for (const { file, hunks } of taken) {
    const before = stateOf(root, file.path);
    const kept = file.after === null ? null : await contents.put(Buffer.from(file.after, 'latin1'));
    if (before === 'other' || (before?.hash ?? null) !== kept) return null;
    const text = without(file, new Set(hunks));
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

/** Where the files of hunks are: in the repository's root, and in the project's, to which reports name them. */
interface HunkPlace {
  readonly root: string;
  readonly cwd: string;
  /** Masks texts before they are cut. */
  readonly clean?: (text: string) => string;
}

/** Converts hunks for reports and prompts. */
export async function shownHunks(
  hunks: readonly ExactHunk[],
  { base, commits }: Pick<History, 'base' | 'commits'>,
  { root, cwd, clean }: HunkPlace,
): Promise<Omit<BlamedHunk, 'inTests'>[]> {
  const found: Omit<BlamedHunk, 'inTests'>[] = [];
  for (const hunk of hunks) {
    const ids = await commitsThatTouched(hunk, base.commit, root);
    found.push({
      file: relativePath(cwd, path.join(root, hunk.file)),
      line: hunk.newStart,
      old: shown(hunk.old, clean),
      now: shown(hunk.now, clean),
      whole: hunk.whole,
      commit: ids.includes(uncommitted) ? null : (commits.find(({ id }) => ids.includes(id)) ?? null),
    });
  }
  return found;
}

/** Converts candidates for reports and prompts. */
export async function blamedHunks(
  candidates: readonly Candidate[],
  history: Pick<History, 'base' | 'commits'>,
  place: HunkPlace,
): Promise<BlamedHunk[]> {
  const all = candidates.map(({ hunk }) => hunk);
  const hunks = await shownHunks(all, history, place);
  return hunks.map((hunk, at) => ({ ...hunk, inTests: candidates[at]?.inTests ?? false }));
}

/** The most hunks of the blamed commits that are looked up: each takes a call of git. */
const MAX_REST = 40;

/** Returns the other hunks of the app in the commits of the blamed hunks, or that are not committed either. */
export async function restOf(
  blamed: readonly BlamedHunk[],
  { base, candidates }: Pick<History, 'base' | 'candidates'>,
  place: { readonly root: string; readonly cwd: string; readonly found: readonly Candidate[] },
): Promise<Hunk[]> {
  const ids = new Set(blamed.map(({ commit }) => commit?.id ?? uncommitted));
  const others = candidates.filter((one) => !one.inTests && !place.found.includes(one)).slice(0, MAX_REST);
  const rest: Hunk[] = [];
  for (const { hunk } of others) {
    const touched = await commitsThatTouched(hunk, base.commit, place.root);
    if (!touched.some((id) => ids.has(id))) continue;
    const file = relativePath(place.cwd, path.join(place.root, hunk.file));
    rest.push({ file, old: shown(hunk.old), now: shown(hunk.now) });
  }
  return rest;
}

/** As `git blame` names what is not committed. */
const uncommitted = '0'.repeat(40);

/** Returns the commits that added a hunk's lines or, if it has none, the newest one that removed them. */
async function commitsThatTouched(
  { file, newStart, old, now, whole }: ExactHunk,
  base: string,
  root: string,
): Promise<readonly string[]> {
  if (now.length > 0) {
    const lines = whole ? [] : ['-L', `${newStart},+${now.length}`];
    const said = await git(root, ['blame', '-s', '-l', ...lines, `^${base}`, '--', file]);
    return said === null ? [] : Array.from(said.matchAll(/^[\da-f]{40,}/gm), ([id]) => id);
  }
  const removed = Buffer.from(old.join(''), 'latin1').toString().replaceAll('\r\n', '\n');
  const atHead = await git(root, ['show', `HEAD:${file}`]);
  if (whole ? (atHead === null) === (old.length === 0) : atHead?.includes(removed)) return [uncommitted];
  const how = whole ? [] : [`-S${removed}`];
  const id = await git(root, ['log', '--max-count=1', '--format=%H', ...how, `${base}..HEAD`, '--', file]);
  return id ? [id.trim()] : [];
}

const LINES_KEPT = 400;
const CHARACTERS_KEPT = 2000;

function shown(lines: readonly string[], clean = (text: string) => text): string[] {
  if (lines.length === 0) return [];
  const text = Buffer.from(lines.slice(0, LINES_KEPT).join(''), 'latin1').toString('utf8');
  const all = clean(text.replace(/\r?\n$/, '')).split(/\r?\n/);
  return all.map((line) => line.slice(0, CHARACTERS_KEPT));
}

/** Decodes one character per byte, so that no byte is lost. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

/** Git may store other line endings than it checks out. */
function withEndsOf(now: string | null, text: string): string {
  return now?.includes('\r\n') && !text.includes('\r') ? text.replaceAll('\n', '\r\n') : text;
}
