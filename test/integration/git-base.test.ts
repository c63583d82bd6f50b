import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { execaSync } from 'execa';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { baseOf } from '../../src/git-trees.js';
import { gitlabWorkflow } from '../../src/init/gitlab-workflow.js';
import { ciProjectOf } from '../../src/init/ci-project.js';
import { tempDir } from '../rig/temp-dir.js';

const git = (cwd: string, ...args: string[]) =>
  execaSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd }).stdout;

/** A server's repository: `feature` left `trunk`, and both went on. */
function onServer(): { dir: string; base: string } {
  const dir = tempDir();
  const commit = (name: string) => {
    writeFileSync(path.join(dir, name), name);
    git(dir, 'add', '--all');
    git(dir, 'commit', '--quiet', '-m', name);
    return git(dir, 'rev-parse', 'HEAD');
  };
  git(dir, 'init', '--quiet', '--initial-branch=trunk');
  commit('first');
  const base = commit('second');
  git(dir, 'checkout', '--quiet', '-b', 'feature');
  for (const name of ['third', 'fourth', 'fifth']) commit(name);
  git(dir, 'checkout', '--quiet', 'trunk');
  commit('sixth');
  return { dir, base };
}

/** What GitLab's runner makes of it: the branches that it fetches, HEAD at no branch, and an address with a token. */
function onRunner(server: string, ...refs: string[]): string {
  const dir = tempDir();
  git(dir, 'init', '--quiet');
  git(dir, 'remote', 'add', 'origin', `file://${server}`);
  git(dir, 'fetch', '--quiet', 'origin', ...refs);
  git(dir, 'checkout', '--quiet', '--detach', git(server, 'rev-parse', 'feature'));
  git(dir, 'remote', 'set-url', 'origin', 'https://gitlab-ci-token:SECRET@gitlab.example/shop.git');
  return dir;
}

it('BL-2 CL-10 the job for GitLab takes the token out of git’s configuration and keeps where the branch began', async () => {
  const { dir, base } = onServer();
  const runner = onRunner(dir, '+refs/heads/*:refs/remotes/origin/*');
  const text = gitlabWorkflow(ciProjectOf(runner, runner), null, null);
  const job = (parse(text) as Record<string, { script: string[]; variables: object }>)['self-heal'];
  // As deep as the branches above.
  expect(job?.variables).toEqual({ GIT_DEPTH: '0' });
  const ofGit = job?.script.filter((line) => line.startsWith('git ')) ?? [];
  for (const line of ofGit) execaSync(line, { cwd: runner, shell: true });
  expect(readFileSync(path.join(runner, '.git/config'), 'utf8')).not.toContain('SECRET');
  expect(await baseOf(runner, null, { CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'trunk' })).toBe(base);
  expect(await baseOf(runner, null, { CI_DEFAULT_BRANCH: 'trunk' })).toBe(base);
  expect(await baseOf(runner, null, {})).toMatchObject({ what: 'unknown-base' });
});

it('BL-2 of a merge request whose target was not fetched GitLab itself says where it began', async () => {
  const { dir, base } = onServer();
  const said = { CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'trunk', CI_MERGE_REQUEST_DIFF_BASE_SHA: base };
  expect(await baseOf(onRunner(dir, '--depth=20', 'feature'), null, said)).toBe(base);
  const apart = onRunner(dir, '--depth=4', 'feature');
  git(apart, 'fetch', '--quiet', '--depth=1', `file://${dir}`, '+trunk:refs/remotes/origin/trunk');
  expect(await baseOf(apart, null, said)).toBe(base);
  const shallow = onRunner(dir, '--depth=1', 'feature');
  expect(await baseOf(shallow, null, said)).toMatchObject({ what: 'unknown-base' });
});
