import { environment } from '../environment.js';
import path from 'node:path';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { describeError } from '../problem.js';

/** With these options, git runs no program that the repository names, and prints paths unquoted. */
const flags = ['-c', 'core.fsmonitor=false', '-c', 'core.quotepath=false', '-c', 'core.hooksPath=/dev/null'];
const gitVariables = {
  GIT_OPTIONAL_LOCKS: '0',
  // A partial clone fetches missing objects, and must not ask for a password.
  GIT_TERMINAL_PROMPT: '0',
  // `git replace` would show a different object than the one in the commit.
  GIT_NO_REPLACE_OBJECTS: '1',
  LC_ALL: 'C',
};

/** A repository on a dead network drive, or a fetch without an answer, must not block a run forever. */
const LIMIT_MS = 120_000;

/** Options of a git command: text for its standard input, and a time limit in milliseconds (2 minutes by default). */
interface GitOptions {
  readonly input?: string;
  readonly timeoutMs?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a git command; returns null if it fails or takes too long, or if there is no repository or no git. */
export async function git(
  cwd: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<string | null> {
  return gitBytes(cwd, args, options).then(String, () => null);
}

/** Runs a git command that separates its output by NUL, as with `-z`; returns an empty list where `git` returns null. */
export async function gitList(cwd: string, args: readonly string[], options?: GitOptions): Promise<string[]> {
  return splitAtNul(await git(cwd, args, options));
}

/** Splits the output of a git command at NUL. */
export function splitAtNul(output: string | Buffer | null): string[] {
  return String(output ?? '')
    .split('\0')
    .filter((item) => item !== '');
}

/** Runs a git command; rejects with execa's error, whose code is `ENOENT` if git is not installed. */
export async function gitBytes(
  cwd: string,
  args: readonly string[],
  { input = '', timeoutMs = LIMIT_MS, env = {} }: GitOptions = {},
): Promise<Buffer> {
  // execa would reject as if git were not installed.
  if (!existsSync(cwd)) throw new Error(`${cwd} does not exist`);
  // Loaded on demand, because starting a suite needs no git.
  const { execa } = await import('execa');
  const { stdout } = await execa('git', [...flags, ...args], {
    cwd,
    env: { ...removeGitVariables(environment()), ...gitVariables, ...env },
    extendEnv: false,
    input,
    timeout: timeoutMs,
    maxBuffer: 1024 ** 3,
    stripFinalNewline: false,
    encoding: 'buffer',
  });
  return Buffer.from(stdout.buffer, stdout.byteOffset, stdout.byteLength);
}

/**
 * Runs `git diff` against the working tree with a copy of the index, because even without optional locks git would update the times of unchanged files
 * in the user's index. Rejects like `gitBytes`.
 */
export async function gitDiff(cwd: string, args: readonly string[]): Promise<Buffer> {
  const indexPath = String(await gitBytes(cwd, ['rev-parse', '--git-path', 'index'])).replace(/\n$/, '');
  const folder = await mkdtemp(path.join(tmpdir(), 'self-heal-index-'));
  const copy = path.join(folder, 'index');
  try {
    // A repository without a single file has no index.
    await copyIndex(path.resolve(cwd, indexPath), copy).catch(() => undefined);
    return await gitBytes(cwd, ['diff', ...args], { env: { GIT_INDEX_FILE: copy } });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Keeps the index's time: git re-reads only files that are not older than the index. https://git-scm.com/docs/racy-git */
async function copyIndex(from: string, to: string): Promise<void> {
  const { mtimeMs } = await stat(from);
  await copyFile(from, to);
  const second = Math.floor(mtimeMs / 1000);
  await utimes(to, second, second);
}

/** Returns the last error message that git printed. */
export function readGitError(error: unknown): string {
  const text = describeError(error);
  return [...text.matchAll(/^(?:fatal|error): (.+)/gm)].at(-1)?.[1] ?? text;
}

/**
 * Returns the environment without git's variables, which name the repository of a calling hook or change git's output. Keeps settings, because they
 * may mark another user's repository as safe.
 */
function removeGitVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isKept = (name: string) => !name.startsWith('GIT_') || name.startsWith('GIT_CONFIG_');
  return Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name)));
}

/** The variables that `git rev-parse --local-env-vars` lists, except those with settings, such as `safe.directory`. */
const repositoryVariables = new Set([
  'GIT_DIR',
  'GIT_COMMON_DIR',
  'GIT_WORK_TREE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_PREFIX',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_INDEX_FILE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_GRAFT_FILE',
  'GIT_SHALLOW_FILE',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_REPLACE_REF_BASE',
]);

/** Returns an environment without the variables that git sets for a hook, such as `pre-push`: with them, git uses the hook's repository in any folder. */
export function removeHookVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !repositoryVariables.has(name)));
}

/** Returns the folder that contains `.git` (a file in a worktree); null outside a repository. */
export function findGitRoot(folder: string): string | null {
  const isRoot = (candidate: string) => existsSync(path.join(candidate, '.git'));
  return isRoot(folder) ? folder : findAncestor(folder, isRoot);
}

/** Returns the nearest folder above this one that is a match, or null. */
export function findAncestor(folder: string, isMatch: (folder: string) => boolean): string | null {
  const parent = path.dirname(folder);
  if (parent === folder) return null;
  return isMatch(parent) ? parent : findAncestor(parent, isMatch);
}

export interface RecentCommit {
  readonly id: string;
  /** `2026-11-22` */
  readonly date: string;
  readonly author: string;
  readonly subject: string;
  /** The files that it changed, relative to the repository's root, at most ten. */
  readonly files: readonly string[];
}

const MAX_COMMITS = 5;

/** Returns the last commits in a folder, those that changed these files first; none without a repository. */
export async function listRecentCommits(cwd: string, files: readonly string[]): Promise<RecentCommit[]> {
  const paths = files.map((file) => `:(literal)${file}`);
  const [related, recent] = await Promise.all([
    paths.length > 0 ? readLog(cwd, paths) : [],
    readLog(cwd, ['.']),
  ]);
  const commits = new Map([...related.slice(0, 3), ...recent].map((commit) => [commit.id, commit]));
  return [...commits.values()].slice(0, MAX_COMMITS);
}

async function readLog(cwd: string, paths: readonly string[]): Promise<RecentCommit[]> {
  const format = '--format=%x01%h%x02%as%x02%an%x02%s';
  const options = [`-${MAX_COMMITS}`, '--no-merges', '--name-only', format];
  const text = await git(cwd, ['log', ...options, '--', ...paths]);
  return (text ?? '')
    .split('\u0001')
    .slice(1)
    .map((entry) => {
      const [head = '', ...names] = entry.split('\n').filter((line) => line !== '');
      const [id = '', date = '', author = '', subject = ''] = head.split('\u0002');
      return { id, date, author, subject, files: names.slice(0, 10) };
    });
}

/** Returns HEAD of a project's repository (null if there is none), and whether there are uncommitted changes. */
export async function readHead(cwd: string): Promise<{ commit: string | null; isDirty: boolean }> {
  // A comparison with the upstream branch may take long in a large repository.
  const options = ['--porcelain=v2', '--branch', '--no-ahead-behind', '--untracked-files=normal'];
  const status = await git(cwd, ['status', ...options]);
  const [, commit = null] = /^# branch\.oid ([\da-f]+)$/m.exec(status ?? '') ?? [];
  return { commit, isDirty: status === null || /^[^#]/m.test(status) };
}
