import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { writeInto } from './agent-workspace.js';
import { tempDir } from './temp-dir.js';

/** Creates a repository with one commit of Ann's for each of these states of files. */
export function gitRepository(...states: readonly Readonly<Record<string, string>>[]) {
  const dir = realpathSync(tempDir());
  const author = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com'];
  const git = (...args: string[]) =>
    execFileSync('git', [...author, ...args], { cwd: dir, encoding: 'utf8' }).trim();
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
