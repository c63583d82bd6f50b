import { createHash } from 'node:crypto';
import { lstat, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
import { gitBytes, gitDiff, gitRootOf, gitSays } from './git.js';
import type { Problem } from '../problem.js';

/** The files of one recorded state, for reading. */
export interface Tree {
  /** Returns all paths, relative to the root, with `/`. */
  paths(): Promise<readonly string[]>;
  /** Returns the bytes of the files that exist, by path. */
  read(paths: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
}

export interface ChangedPath {
  /** Relative to the recorded root, with forward slashes. */
  readonly path: string;
  /** Links and submodules are never read. Default: `file`. */
  readonly kind?: 'file' | 'link' | 'other';
}

/** What changed in a repository since a commit, and both states of its files. */
export interface GitChanges {
  readonly root: string;
  /** The commit that the working tree is compared with. */
  readonly base: string;
  readonly changes: readonly ChangedPath[];
  /** Finds, by reading every file, what changed and git was told not to see. */
  readonly hidden: () => Promise<readonly ChangedPath[]>;
  readonly before: Tree;
  readonly after: Tree;
}

/** Why there is nothing to compare with; `detail` is git's message, or the names that were tried. */
export interface NoBase {
  readonly what: 'no-git' | 'no-repository' | 'unreadable' | 'unknown-base' | 'no-merge-base';
  readonly detail: string;
}

async function lineOf(cwd: string, command: readonly string[]): Promise<string> {
  return String(await gitBytes(cwd, command)).replace(/\n$/, '');
}

async function listOf(cwd: string, command: readonly string[]): Promise<string[]> {
  const parts = String(await gitBytes(cwd, command)).split('\0');
  return parts.filter((one) => one !== '');
}

/** Compares the working tree with `ref` or, if null, with the commit where its branch left the default branch. */
export async function gitChanges(cwd: string, ref: string | null): Promise<GitChanges | NoBase> {
  return changesSince(cwd, ref).catch((error: unknown) => whyUnread(cwd, error));
}

/** Where there is a repository, git may refuse to read it, as in a container where it belongs to another user. */
function whyUnread(cwd: string, error: unknown): NoBase {
  const detail = gitSays(error);
  if ((error as { code?: string }).code === 'ENOENT') return { what: 'no-git', detail };
  return { what: gitRootOf(cwd) === null ? 'no-repository' : 'unreadable', detail };
}

async function changesSince(cwd: string, ref: string | null): Promise<GitChanges | NoBase> {
  const root = await lineOf(cwd, ['rev-parse', '--show-toplevel']);
  const base = await baseOf(cwd, ref);
  if (typeof base !== 'string') return base;
  // What is uncommitted in a submodule is no change of this repository.
  const how = ['--raw', '-z', '--no-renames', '--no-abbrev', '--no-ext-diff', '--ignore-submodules=dirty'];
  const raw = String(await gitDiff(root, [...how, base, '--']))
    .split('\0')
    .filter((one) => one !== '');
  const untracked = await listOf(root, ['ls-files', '--others', '--exclude-standard', '-z']);
  const added = untracked.map(async (one) => ({ path: one, kind: await kindOf(path.join(root, one)) }));
  const changes = [...changedIn(raw), ...(await Promise.all(added))];
  return {
    root,
    base,
    changes,
    hidden: () => hiddenIn(root, base, new Set(changes.map((one) => one.path))),
    before: commitTree(root, base),
    after: workingTree(root, async () => [...(await listOf(root, ['ls-files', '-z'])), ...untracked]),
  };
}

/**
 * Finds what git was told not to see: files whose bytes are not those that the commit stores, whatever flags of the index, filters and attributes
 * say. Line ends that git converts, and the contents that Git LFS keeps elsewhere, are no difference; nor is the absence of what a sparse
 * checkout leaves out.
 */
async function hiddenIn(root: string, base: string, told: ReadonlySet<string>): Promise<ChangedPath[]> {
  const entries = (await listOf(root, ['ls-tree', '-r', '-z', base])).flatMap((entry) => {
    const [, id = '', file = ''] = /^100\d{3} blob ([\da-f]+)\t(.+)$/s.exec(entry) ?? [];
    return file === '' || told.has(file) ? [] : [{ id, file }];
  });
  const how = ['--type=bool', '--default=false', '--get', 'core.sparseCheckout'];
  const isSparse = (await lineOf(root, ['config', ...how])) === 'true';
  const differing: { id: string; file: string; sums: readonly string[] }[] = [];
  const now = workingTree(root, () => Promise.resolve([]));
  for (const { id, file } of entries) {
    const bytes = (await now.read([file])).get(file);
    if (bytes ? blobId(bytes, id) !== id : !isSparse)
      differing.push({ id, file, sums: bytes ? sumsOf(bytes) : [] });
  }
  const stored = await readObjects(root, [...new Set(differing.map(({ id }) => id))]);
  const isStored = ({ id, sums: [whole, lines] }: (typeof differing)[number]) => {
    const bytes = stored.get(id) ?? new Uint8Array();
    const inLfs = /^version https:\/\/git-lfs[^\n]*\noid sha256:([\da-f]{64})\n/.exec(
      Buffer.from(bytes).toString('latin1'),
    );
    return whole !== undefined && (inLfs?.[1] === whole || sumsOf(bytes)[1] === lines);
  };
  return differing.filter((one) => !isStored(one)).map(({ file }) => ({ path: file, kind: 'file' }));
}

/** Returns the SHA-256 of bytes, and that of the same lines with line feeds alone. */
function sumsOf(bytes: Uint8Array): readonly string[] {
  const lines = Buffer.from(Buffer.from(bytes).toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
  return [bytes, lines].map((one) => createHash('sha256').update(one).digest('hex'));
}

/** Returns the id under which git stores these bytes; `like` is another id of the repository, whose length tells the hash. */
function blobId(bytes: Uint8Array, like: string): string {
  const hash = createHash(like.length === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

/** Resolves `ref` or, if null, the merge base with the first base branch that exists. */
export async function baseOf(
  cwd: string,
  ref: string | null,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | NoBase> {
  if (ref !== null) return (await commitsOf(cwd, [ref])).get(ref) ?? { what: 'unknown-base', detail: ref };
  const { wanted, names } = basesIn(env);
  const commits = await commitsOf(cwd, names);
  let missed: NoBase | null = null;
  for (const name of names) {
    // If the history does not reach back to the first one, only another base named by the CI system may replace it.
    if (missed && !wanted.includes(name)) break;
    const target = commits.get(name);
    if (target === undefined) continue;
    const base = await lineOf(cwd, ['merge-base', 'HEAD', target]).catch(() => null);
    if (base !== null) return base;
    missed ??= { what: 'no-merge-base', detail: name };
  }
  return missed ?? { what: 'unknown-base', detail: names.join(', ') };
}

/** Resolves names to commits, and leaves out those that do not exist. */
async function commitsOf(cwd: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const asked = names.filter((name) => !name.includes('\n'));
  const input = asked.map((name) => `${name}^{commit}\n`).join('');
  const said = await gitBytes(cwd, ['cat-file', '--batch-check=%(objectname)'], { input }).catch(() => '');
  const ids = said.toString().split('\n');
  return new Map(
    asked.flatMap((name, n) => (/^[\da-f]{40,64}$/.test(ids[n] ?? '') ? [[name, ids[n] ?? '']] : [])),
  );
}

/**
 * Returns where a branch may have begun: the base named by the CI system for its pull or merge request, and the usual names of the
 * default branch.
 */
function basesIn(env: NodeJS.ProcessEnv): { wanted: readonly string[]; names: readonly string[] } {
  const branchOf = (...variables: string[]) =>
    variables.flatMap((one) => (env[one] ? [`origin/${env[one]}`] : [])).slice(0, 1);
  // GitLab fetches the target branch only with the full history, but it names the commit.
  const commit = env['CI_MERGE_REQUEST_DIFF_BASE_SHA'];
  const wanted = [
    ...branchOf('GITHUB_BASE_REF', 'CI_MERGE_REQUEST_TARGET_BRANCH_NAME'),
    ...(commit ? [commit] : []),
  ];
  const usual = ['origin/HEAD', 'origin/main', 'origin/master', 'main', 'master'];
  return { wanted, names: [...wanted, ...branchOf('CI_DEFAULT_BRANCH'), ...usual] };
}

/** Parses `git diff --raw -z`: `:old-mode new-mode old-id new-id status NUL path NUL`. */
function changedIn(fields: readonly string[]): ChangedPath[] {
  return fields.flatMap((field, index) => {
    const [, old = '', now = ''] = /^:(\d{6}) (\d{6}) /.exec(field) ?? [];
    const file = fields[index + 1];
    if (now === '' || file === undefined || index % 2 === 1) return [];
    const mode = now === '000000' ? old : now;
    return [{ path: file, kind: mode === '120000' ? 'link' : mode === '160000' ? 'other' : 'file' }];
  });
}

async function kindOf(file: string): Promise<'file' | 'link' | 'other'> {
  const found = await lstat(file).catch(() => null);
  return found?.isSymbolicLink() ? 'link' : found && !found.isFile() ? 'other' : 'file';
}

function workingTree(root: string, paths: Tree['paths']): Tree {
  const bytesOf = async (file: string) => {
    const kind = await kindOf(file);
    return kind === 'other' ? null : kind === 'link' ? readlink(file, 'buffer') : readFile(file);
  };
  return {
    paths,
    read: async (asked) => {
      const found = new Map<string, Uint8Array>();
      for (const one of asked) {
        const bytes = await bytesOf(path.join(root, one)).catch(() => null);
        if (bytes) found.set(one, bytes);
      }
      return found;
    },
  };
}

function commitTree(root: string, commit: string): Tree {
  return {
    paths: () => listOf(root, ['ls-tree', '-r', '-z', '--name-only', commit]),
    read: async (paths) => {
      const names = paths.map((one) => `${commit}:${one}`);
      const found = await readObjects(root, names);
      return new Map([...found].map(([name, bytes]) => [name.slice(commit.length + 1), bytes]));
    },
  };
}

/** Reads the contents of blobs, by the names asked for: an id, or `<commit>:<path>`. Missing ones are left out. */
async function readObjects(root: string, names: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
  // A newline in a name would break the line-based request.
  const asked = names.filter((one) => !one.includes('\n'));
  if (asked.length === 0) return new Map();
  const input = asked.map((one) => `${one}\n`).join('');
  return parseBatch(asked, await gitBytes(root, ['cat-file', '--batch'], { input }));
}

/** Parses `git cat-file --batch`: `id SP type SP size LF contents LF`, or `name SP missing LF`, one per request. */
function parseBatch(paths: readonly string[], buffer: Buffer): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  let at = 0;
  for (const one of paths) {
    const end = buffer.indexOf(10, at);
    if (end === -1) break;
    const [, type, size] = / (\w+) (\d+)$/.exec(buffer.toString('utf8', at, end)) ?? [];
    at = end + 1;
    if (size === undefined) continue;
    if (type === 'blob') files.set(one, buffer.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return files;
}

/** Says why there is nothing to compare with. */
export function noBaseProblem({ what, detail }: NoBase): Problem {
  const words: Record<NoBase['what'], Pick<Problem, 'message' | 'remedy'>> = {
    'no-git': { message: 'git is not installed', remedy: 'Install git: what changed is told by it.' },
    'no-repository': {
      message: 'not a git repository',
      remedy: 'Run this command inside the repository of your project.',
    },
    unreadable: {
      message: `git cannot read this repository: ${detail}`,
      remedy: 'Run `git status` here: it says what to do.',
    },
    'unknown-base': {
      message: `no commit to compare with: ${detail}`,
      remedy: 'Name one with --base; in CI fetch it first (actions/checkout with `fetch-depth: 0`).',
    },
    'no-merge-base': {
      message: `the history does not reach back to where the branch left ${detail}`,
      remedy:
        'Fetch the full history (`git fetch --unshallow`; actions/checkout with `fetch-depth: 0`), or name a commit with --base.',
    },
  };
  return { kind: 'usage', ...words[what] };
}
