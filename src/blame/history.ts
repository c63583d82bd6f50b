import path from 'node:path';
import type { BlameBase, BlamedCommit } from '../core/blame.js';
import { gitChanges, type NoBase } from '../git-trees.js';
import { git } from '../git.js';
import { isWritable } from '../workspace/project-files.js';
import { type FileHistory, readFiles } from './file-history.js';
import { stepsOf } from './steps.js';

/** What happened to the project's files since a state that may be green. */
export interface History {
  readonly base: BlameBase;
  /** The commits since then, each after its parents. Uncommitted changes are the step after the last. */
  readonly commits: readonly BlamedCommit[];
  /** The parents of each step, the first parent first; -1 stands for the base and everything older. */
  readonly parents: readonly (readonly number[])[];
  /** Only regular files: links and submodules are left out. */
  readonly files: readonly FileHistory[];
  /** Whether the repository has all its history, that is, is not a shallow clone. */
  readonly isWhole: boolean;
}

/** Where the history begins, and which files to leave out; all optional. */
export interface HistoryRequest {
  /** A commit named by a person. */
  readonly named?: string | null;
  /** A commit before HEAD at which the test was green here. */
  readonly lastGreen?: string | null;
  /** Files to leave out, by their paths from the root. */
  readonly without?: ReadonlySet<string>;
}

/** With more files than this, the base is too old to find a single change. */
const MAX_FILES = 2000;

/**
 * Reads the history from git. Returns a text if that is impossible, and rejects if git lacks the objects (a partial clone without
 * its remote). File paths are relative to `root`.
 */
export async function readHistory(
  root: string,
  { named = null, lastGreen = null, without = new Set() }: HistoryRequest,
): Promise<History | string> {
  const wanted = named ?? lastGreen;
  const branch = await gitChanges(root, wanted);
  // No default branch is known here, so only uncommitted changes remain.
  const isUnknown = 'what' in branch && branch.what !== 'unreadable' && named === null;
  const changed = isUnknown ? await gitChanges(root, 'HEAD') : branch;
  if ('what' in changed) return whyNot(changed);
  if (path.resolve(changed.root) !== path.resolve(root))
    return 'the project is not a git repository of its own';
  const head = (await git(root, ['rev-parse', 'HEAD']))?.trim() ?? '';
  const from = named !== null ? 'named' : wanted !== null ? 'last-green' : 'merge-base';
  const base: BlameBase = {
    commit: changed.base,
    from: changed.base === head && from === 'merge-base' ? 'head' : from,
  };
  const absent = await leftOutOf(root);
  const paths = changed.changes.filter(
    (one) => one.kind === 'file' && isWritable(one.path) && !without.has(one.path) && !absent.has(one.path),
  );
  const since = changed.base === head ? `${head.slice(0, 7)} (HEAD)` : changed.base.slice(0, 7);
  if (paths.length === 0)
    return `no file differs from ${since}${(await isWhole(root)) ? '' : `, and ${notWhole}`}`;
  if (paths.length > MAX_FILES) return `too many files (${paths.length}) differ from ${since}`;
  const steps = await stepsOf(root, changed.base);
  const files = await readFiles(root, {
    base: changed.base,
    before: await changed.before.read(paths.map((one) => one.path)),
    paths: paths.map((one) => one.path),
    steps,
  });
  const parents = [...steps.map((step) => step.parents), [steps.length - 1]];
  return { base, commits: steps.map(({ commit }) => commit), parents, files, isWhole: await isWhole(root) };
}

/** Returns the files that a sparse checkout leaves out: that they are not there is no change. */
async function leftOutOf(root: string): Promise<ReadonlySet<string>> {
  const listed = ((await git(root, ['ls-files', '-t', '-z'])) ?? '').split('\0');
  return new Set(listed.flatMap((line) => (line.startsWith('S ') ? [line.slice(2)] : [])));
}

/** Appended if the repository is shallow, as CI systems clone it. */
export const notWhole = 'older commits are missing: fetch more history';

async function isWhole(root: string): Promise<boolean> {
  return (await git(root, ['rev-parse', '--is-shallow-repository']))?.trim() !== 'true';
}

function whyNot({ what, detail }: NoBase): string {
  if (what === 'unknown-base') return `git does not know the commit ${detail}`;
  if (what === 'no-merge-base')
    return `git finds no common ancestor of HEAD and ${detail}: fetch more history`;
  if (what === 'no-git') return 'git is not installed';
  if (what === 'no-repository') return 'the project is not a git repository';
  return `git cannot read the repository: ${detail}`;
}
