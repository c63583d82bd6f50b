import { environment } from '../environment.js';
import { lstat, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
import pMap from 'p-map';
import { gitBytes, gitDiff, findGitRoot, readGitError, splitAtNul } from './git.js';
import { hashContent } from './file-state.js';
import { computeBlobId } from './patch-text.js';
import type { Problem } from '../problem.js';

/** The files of a project in one state. */
export interface FileSnapshot {
  /** Returns all paths, relative to the root, with forward slashes. */
  listPaths(): Promise<readonly string[]>;
  /** Returns the bytes of the files that exist, by path. */
  readFiles(paths: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
}

export interface ChangedPath {
  /** Relative to the workspace root, with forward slashes. */
  readonly path: string;
  /** Links and submodules are never read. Default: `file`. */
  readonly kind?: 'file' | 'link' | 'other';
}

/** The changes in a repository since a commit, and the files before and after them. */
export interface GitChanges {
  readonly root: string;
  /** The commit that the working tree is compared with. */
  readonly base: string;
  readonly changes: readonly ChangedPath[];
  /** Reads every file, and returns changes that git's configuration hides. */
  readonly findHidden: () => Promise<readonly ChangedPath[]>;
  readonly before: FileSnapshot;
  readonly after: FileSnapshot;
}

/** Why there is no commit to compare with; `detail` is git's message, or the tried names. */
export interface NoBase {
  readonly kind: 'no-git' | 'no-repository' | 'unreadable' | 'unknown-base' | 'no-merge-base';
  readonly detail: string;
}

async function readGitLine(cwd: string, command: readonly string[]): Promise<string> {
  return String(await gitBytes(cwd, command)).replace(/\n$/, '');
}

async function readGitList(cwd: string, command: readonly string[]): Promise<string[]> {
  return splitAtNul(await gitBytes(cwd, command));
}

/** Compares the working tree with `ref` or, if null, with the commit at which the branch started. */
export async function compareWithGit(cwd: string, ref: string | null): Promise<GitChanges | NoBase> {
  return compareWithBase(cwd, ref).catch((error: unknown): NoBase => {
    const detail = readGitError(error);
    if ((error as { code?: string }).code === 'ENOENT') return { kind: 'no-git', detail };
    // Git may refuse to read a repository, for example one of another user in a container.
    return { kind: findGitRoot(cwd) === null ? 'no-repository' : 'unreadable', detail };
  });
}

async function compareWithBase(cwd: string, ref: string | null): Promise<GitChanges | NoBase> {
  const root = await readGitLine(cwd, ['rev-parse', '--show-toplevel']);
  const base = await findBase(cwd, ref);
  if (typeof base !== 'string') return base;
  // Uncommitted changes in a submodule do not belong to this repository.
  const options = [
    '--raw',
    '-z',
    '--no-renames',
    '--no-abbrev',
    '--no-ext-diff',
    '--ignore-submodules=dirty',
  ];
  const raw = splitAtNul(await gitDiff(root, [...options, base, '--']));
  const untracked = await readGitList(root, ['ls-files', '--others', '--exclude-standard', '-z']);
  const added = untracked.map(async (file) => ({ path: file, kind: await readKind(path.join(root, file)) }));
  const changes = [...parseRawDiff(raw), ...(await Promise.all(added))];
  return {
    root,
    base,
    changes,
    findHidden: () => findHiddenChanges(root, base, new Set(changes.map((change) => change.path))),
    before: createCommitSnapshot(root, base),
    after: createDiskSnapshot(root, async () => [
      ...(await readGitList(root, ['ls-files', '-z'])),
      ...untracked,
    ]),
  };
}

/**
 * Finds changes that git's configuration hides: files whose bytes differ from the commit's, regardless of index flags, filters and attributes.
 * Ignores converted line endings, contents in Git LFS, and files that a sparse checkout omits.
 */
async function findHiddenChanges(
  root: string,
  base: string,
  listedPaths: ReadonlySet<string>,
): Promise<ChangedPath[]> {
  const entries = (await readGitList(root, ['ls-tree', '-r', '-z', base])).flatMap((entry) => {
    const [, id = '', file = ''] = /^100\d{3} blob ([\da-f]+)\t(.+)$/s.exec(entry) ?? [];
    return file === '' || listedPaths.has(file) ? [] : [{ id, file }];
  });
  const options = ['--type=bool', '--default=false', '--get', 'core.sparseCheckout'];
  const isSparse = (await readGitLine(root, ['config', ...options])) === 'true';
  const differing: { id: string; file: string; hash?: string; hashLines?: string }[] = [];
  const workingTree = createDiskSnapshot(root, () => Promise.resolve([]));
  for (const { id, file } of entries) {
    const bytes = (await workingTree.readFiles([file])).get(file);
    if (bytes && computeBlobId(bytes, id) !== id)
      differing.push({ id, file, hash: hashContent(bytes), hashLines: hashLines(bytes) });
    else if (!bytes && !isSparse) differing.push({ id, file });
  }
  const objects = await readObjects(root, [...new Set(differing.map(({ id }) => id))]);
  const isSameContent = ({ id, hash, hashLines: lines }: (typeof differing)[number]) => {
    const bytes = objects.get(id) ?? new Uint8Array();
    const [, lfsHash] =
      /^version https:\/\/git-lfs[^\n]*\noid sha256:([\da-f]{64})\n/.exec(
        Buffer.from(bytes).toString('latin1'),
      ) ?? [];
    return hash !== undefined && (lfsHash === hash || hashLines(bytes) === lines);
  };
  return differing.filter((entry) => !isSameContent(entry)).map(({ file }) => ({ path: file, kind: 'file' }));
}

/** Returns the SHA-256 of a text with line feeds as its only line endings. */
function hashLines(bytes: Uint8Array): string {
  return hashContent(Buffer.from(Buffer.from(bytes).toString('latin1').replaceAll('\r\n', '\n'), 'latin1'));
}

/** Resolves `ref` or, if null, the merge base with the first base branch that exists. */
export async function findBase(
  cwd: string,
  ref: string | null,
  env: NodeJS.ProcessEnv = environment(),
): Promise<string | NoBase> {
  if (ref !== null)
    return (await resolveCommits(cwd, [ref])).get(ref) ?? { kind: 'unknown-base', detail: ref };
  const { requested, names } = listBaseNames(env);
  const commits = await resolveCommits(cwd, names);
  let failure: NoBase | null = null;
  for (const name of names) {
    // If the history is too short for the first base, only another base that the CI system names may replace it.
    if (failure && !requested.includes(name)) break;
    const target = commits.get(name);
    if (target === undefined) continue;
    const base = await readGitLine(cwd, ['merge-base', 'HEAD', target]).catch(() => null);
    if (base !== null) return base;
    failure ??= { kind: 'no-merge-base', detail: name };
  }
  return failure ?? { kind: 'unknown-base', detail: names.join(', ') };
}

/** Resolves names to commits; omits names that do not exist. */
async function resolveCommits(cwd: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const validNames = names.filter((name) => !name.includes('\n'));
  const input = validNames.map((name) => `${name}^{commit}\n`).join('');
  const output = await gitBytes(cwd, ['cat-file', '--batch-check=%(objectname)'], { input }).catch(() => '');
  const ids = output.toString().split('\n');
  return new Map(
    validNames.flatMap((name, n) => (/^[\da-f]{40,64}$/.test(ids[n] ?? '') ? [[name, ids[n] ?? '']] : [])),
  );
}

/** Returns the possible bases of a branch: from the CI system's variables for the pull or merge request, and the usual default branches. */
function listBaseNames(env: NodeJS.ProcessEnv): { requested: readonly string[]; names: readonly string[] } {
  const findBranch = (...variables: string[]) =>
    variables.flatMap((name) => (env[name] ? [`origin/${env[name]}`] : [])).slice(0, 1);
  // GitLab fetches the target branch only in a full clone, but always names the merge base.
  const commit = env['CI_MERGE_REQUEST_DIFF_BASE_SHA'];
  const requested = [
    ...findBranch('GITHUB_BASE_REF', 'CI_MERGE_REQUEST_TARGET_BRANCH_NAME'),
    ...(commit ? [commit] : []),
  ];
  const defaultBranches = ['origin/HEAD', 'origin/main', 'origin/master', 'main', 'master'];
  return { requested, names: [...requested, ...findBranch('CI_DEFAULT_BRANCH'), ...defaultBranches] };
}

/** Parses `git diff --raw -z`: `:old-mode new-mode old-id new-id status NUL path NUL`. */
export function parseRawDiff(fields: readonly string[]): ChangedPath[] {
  return fields.flatMap((field, index) => {
    const [, old = '', now = ''] = /^:(\d{6}) (\d{6}) /.exec(field) ?? [];
    const file = fields[index + 1];
    if (now === '' || file === undefined || index % 2 === 1) return [];
    const mode = now === '000000' ? old : now;
    return [{ path: file, kind: mode === '120000' ? 'link' : mode === '160000' ? 'other' : 'file' }];
  });
}

async function readKind(file: string): Promise<'file' | 'link' | 'other'> {
  const info = await lstat(file).catch(() => null);
  return info?.isSymbolicLink() ? 'link' : info && !info.isFile() ? 'other' : 'file';
}

/** Reads files from the disk; for links, reads their targets, as git does. */
export function createDiskSnapshot(root: string, listPaths: FileSnapshot['listPaths']): FileSnapshot {
  const readBytes = async (file: string) => {
    const kind = await readKind(file);
    return kind === 'other' ? null : kind === 'link' ? readlink(file, 'buffer') : readFile(file);
  };
  return {
    listPaths,
    readFiles: async (files) => {
      const contents = await pMap(
        files,
        async (file) => ({ file, bytes: await readBytes(path.join(root, file)).catch(nullIfMissing) }),
        { concurrency: 100 },
      );
      return new Map(contents.flatMap(({ file, bytes }) => (bytes ? [[file, bytes]] : [])));
    },
  };
}

/** Treats an unreadable file as missing, unless the disk fails or self-heal itself lacks descriptors or memory. */
function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EACCES', 'EPERM'].includes(error.code ?? '')) return null;
  throw error;
}

function createCommitSnapshot(root: string, commit: string): FileSnapshot {
  return {
    listPaths: () => readGitList(root, ['ls-tree', '-r', '-z', '--name-only', commit]),
    readFiles: async (paths) => {
      const objects = await readObjects(
        root,
        paths.map((file) => `${commit}:${file}`),
      );
      return new Map([...objects].map(([name, bytes]) => [name.slice(commit.length + 1), bytes]));
    },
  };
}

/**
 * Reads the contents of blobs with `git cat-file --batch`, by name: an id, or `<commit>:<path>`. Omits missing blobs. Git answers each
 * name with `id SP type SP size LF contents LF`, or `name SP missing LF`.
 */
async function readObjects(root: string, names: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
  const blobs = new Map<string, Uint8Array>();
  // A newline in a name would break the line-based request.
  const validNames = names.filter((name) => !name.includes('\n'));
  if (validNames.length === 0) return blobs;
  const input = validNames.map((name) => `${name}\n`).join('');
  const output = await gitBytes(root, ['cat-file', '--batch'], { input });
  let offset = 0;
  for (const name of validNames) {
    const end = output.indexOf(10, offset);
    if (end === -1) break;
    const [, type, size] = / (\w+) (\d+)$/.exec(output.toString('utf8', offset, end)) ?? [];
    offset = end + 1;
    if (size === undefined) continue;
    if (type === 'blob') blobs.set(name, output.subarray(offset, offset + Number(size)));
    offset += Number(size) + 1;
  }
  return blobs;
}

/** Says that there is no commit to compare with, and what to do. */
export function createNoBaseProblem({ kind, detail }: NoBase): Problem {
  const problems: Record<NoBase['kind'], Pick<Problem, 'message' | 'remedy'>> = {
    'no-git': { message: 'git is not installed', remedy: 'Install git, which this command needs.' },
    'no-repository': {
      message: 'not a git repository',
      remedy: "Run this command inside your project's repository.",
    },
    unreadable: {
      message: `git cannot read this repository: ${detail}`,
      remedy: 'Run `git status` here, and follow its advice.',
    },
    'unknown-base': {
      message: `no commit to compare with: ${detail}`,
      remedy: 'Name one with --base; in CI fetch it first (actions/checkout with `fetch-depth: 0`).',
    },
    'no-merge-base': {
      message: `the fetched history does not reach back to where the branch left ${detail}`,
      remedy:
        'Fetch the full history (`git fetch --unshallow`; actions/checkout with `fetch-depth: 0`), or name a commit with --base.',
    },
  };
  return { kind: 'usage', ...problems[kind] };
}
