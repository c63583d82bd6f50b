import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import type { FileChange } from '../core/attempt.js';
import { type Git, privateGit, withoutGit } from './git.js';
import { parseNumstat } from './git-output.js';
import { keepModes, unusualModes } from './modes.js';
import { hiddenByNewRules, type IgnoreRules, readIgnoreRules } from './ignore-rules.js';
import { recordNested } from './nested.js';
import { playwrightPackages } from './playwright-packages.js';
import { momentIn, strayChanges } from './stray-changes.js';
import { takeBack, type TakenBack } from './take-back.js';
import { gitTree, type Tree } from './tree.js';

/** The id of a recorded state of the working tree. */
export type Checkpoint = string;

export type { TakenBack } from './take-back.js';

/** Records and restores the user's files without touching their index, branch, stash or HEAD (HN-1). */
export interface Workspace {
  /** The folder that is recorded: the top of the user's repository, or the project where there is none. */
  readonly root: string;
  checkpoint(): Promise<Checkpoint>;
  /** Files that differ, paths relative to `root`, with `/`. */
  changes(before: Checkpoint, after: Checkpoint): Promise<FileChange[]>;
  /** The files of a recorded state, to be read. */
  tree(checkpoint: Checkpoint): Tree;
  /** A patch that `git apply` takes, binary files included; empty where nothing differs. */
  patch(before: Checkpoint, after: Checkpoint): Promise<Uint8Array>;
  /**
   * Puts back to `before` whatever changed between the two, unless it has been changed again since `after`, or is named in `spare`
   * (paths relative to `root`). What is back already counts as neither.
   */
  takeBack(before: Checkpoint, after: Checkpoint, spare?: readonly string[]): Promise<TakenBack>;
  /**
   * Files outside of every checkpoint (installed packages, ignored files that are no output of tools) that were written since the
   * last checkpoint; relative to `root`.
   */
  strayChanges?(): Promise<readonly string[]>;
}

/** Never part of a snapshot, also where the project ignores nothing. */
const alwaysExcluded = [
  '.self-heal/',
  'node_modules/',
  'test-results/',
  'playwright-report/',
  'blob-report/',
];

/** Opens (or makes) the private store at `<projectRoot>/.self-heal/checkpoints.git`; null where there is no git program. */
export async function openWorkspace(projectRoot: string): Promise<Workspace | null> {
  const root = await workTreeOf(projectRoot);
  if (root === null) return null;
  const gitDir = path.join(projectRoot, '.self-heal', 'checkpoints.git');
  const git = privateGit(gitDir, root);
  await mkdir(gitDir, { recursive: true });
  await git.run(['init', '--quiet', '--initial-branch=checkpoints']);
  await mkdir(path.join(gitDir, 'info'), { recursive: true });
  await writeFile(path.join(gitDir, 'info', 'exclude'), `${alwaysExcluded.join('\n')}\n`);
  await writeFile(
    path.join(gitDir, 'info', 'attributes'),
    '* -text -filter -ident -working-tree-encoding !eol\n',
  );
  const store = { git, gitDir, root, projectRoot };
  let rules: IgnoreRules | null = null;
  let moment: number | null = null;
  const record = async () => {
    const id = await checkpoint(store, rules);
    rules ??= await readIgnoreRules(git, root);
    moment = await momentIn(gitDir);
    return id;
  };
  return {
    root,
    checkpoint: record,
    changes: async (before, after) =>
      parseNumstat(await git.run(['diff-tree', '-r', '-z', '--numstat', before, after])),
    tree: (checkpoint) => gitTree(git, checkpoint),
    patch: (before, after) => patch(git, before, after),
    takeBack: (before, after, spare = []) =>
      takeBack({ git, gitDir, root, before, after, spare, now: record }),
    strayChanges: async () => (moment === null ? [] : strayChanges(git, store, moment)),
  };
}

async function workTreeOf(projectRoot: string): Promise<string | null> {
  const top = await execa('git', ['rev-parse', '--show-toplevel'], {
    cwd: projectRoot,
    env: withoutGit(process.env),
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
  });
  if (top.code === 'ENOENT') return null;
  return top.exitCode === 0 && top.stdout !== '' ? path.normalize(top.stdout) : projectRoot;
}

interface Store {
  git: Git;
  gitDir: string;
  root: string;
  projectRoot: string;
}

async function checkpoint(
  { git, gitDir, root, projectRoot }: Store,
  rules: IgnoreRules | null,
): Promise<Checkpoint> {
  const empty = await git
    .run(['add', '--all', '--ignore-errors', '--', '.'])
    .then(() => [])
    .catch(tolerateUnreadableFiles);
  const ignored = [
    ...(await environmentFiles([root, projectRoot])),
    ...playwrightPackages(root, projectRoot, await nestedPackages(git)),
    ...(rules ? await hiddenByNewRules(git, root, rules) : []),
  ];
  if (ignored.length > 0) {
    await git.run(['add', '--force', '--ignore-errors', '--', ...ignored]).catch(tolerateUnreadableFiles);
  }
  await recordNested(git, root, empty);
  const id = await git.run(['write-tree']);
  const listed = Buffer.from(await git.bytes(['ls-files', '-z'])).toString('latin1');
  await keepModes(
    gitDir,
    id,
    unusualModes(
      root,
      listed.split('\0').filter((file) => file !== ''),
    ),
  );
  return id;
}

/** Every `node_modules` of the recorded folder; what is in them is not looked at. */
async function nestedPackages(git: Git): Promise<string[]> {
  const args = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'];
  return (await git.run(args)).split('\0').filter((folder) => /(?:^|\/)node_modules\/$/.test(folder));
}

/** `.env` and its kind, which projects ignore and agents edit. */
async function environmentFiles(folders: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    [...new Set(folders)].map(async (folder) => {
      const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
      const files = entries.filter((entry) => !entry.isDirectory() && /^\.env(?:\.|$)/.test(entry.name));
      return files.map(({ name }) => path.join(folder, name));
    }),
  );
  return found.flat();
}

/** A file that cannot be read (a socket, another user's) is not recorded; the rest is. Gives the repositories that have no commit. */
function tolerateUnreadableFiles(error: unknown): string[] {
  const text = error instanceof Error ? error.message : String(error);
  if (!/adding files failed|unable to index|can only add|does not have a commit checked out/.test(text))
    throw error;
  return [...text.matchAll(/^error: '(.+)\/' does not have a commit checked out$/gm)].map((found) =>
    Buffer.from(found[1] ?? '').toString('latin1'),
  );
}

function patch(git: Git, before: Checkpoint, after: Checkpoint): Promise<Uint8Array> {
  const exact = ['--binary', '--no-ext-diff', '--no-textconv', '--no-renames', '--no-color'];
  return git.bytes(['diff-tree', '-r', '-p', ...exact, before, after]);
}
