import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { writeInto } from './agent-workspace.js';
import { tempDir } from './temp-dir.js';

/** Returns git in a folder. */
export const gitIn =
  (cwd: string) =>
  (...args: readonly string[]) =>
    execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

/** Commits all files of a folder on a new branch, or else on the current one; makes a repository of the folder if it is none. */
export function commitFolder(dir: string, subject: string, branch?: string) {
  const git = gitIn(dir);
  git('init', '--quiet', '--initial-branch=main');
  if (branch !== undefined) git('checkout', '--quiet', '-b', branch);
  git('add', '--all');
  git('commit', '--quiet', '--message', subject);
  return git;
}

/** Creates a repository with one commit of Ann's for each of these states of files. */
export function gitRepository(...states: readonly Readonly<Record<string, string>>[]) {
  const dir = realpathSync(tempDir());
  const git = gitIn(dir);
  const write = (files: Readonly<Record<string, string>>) => writeInto(dir, files);
  /** Returns the id of the commit. */
  const commit = (files: Readonly<Record<string, string>>, subject = 'A change') => {
    write(files);
    git('add', '--all');
    git('commit', '--quiet', '--message', subject);
    return git('rev-parse', 'HEAD');
  };
  git('init', '--quiet', '--initial-branch=main');
  for (const files of states) commit(files);
  return { dir, git, write, commit };
}
