import { createHash } from 'node:crypto';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { execaSync } from 'execa';
import { expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { findBase, compareWithGit } from '../../src/workspace/git-trees.js';
import { findDirtySubmodules } from '../../src/guard/dirty-submodules.js';
import { findIgnoredReads } from '../../src/guard/ignored-reads.js';
import { renderWorkflows } from '../../src/clients/init/ci-workflow.js';
import { gitIn } from '../rig/git-repository.js';
import { tempDir } from '../rig/temp-dir.js';

const git = (cwd: string, ...args: string[]) => gitIn(cwd)(...args);

/** The server's repository: `feature` branched off `trunk`, and both have commits since. */
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

/** The clone that GitLab's runner makes: the fetched branches, a detached HEAD, and a remote URL with a token. */
function onRunner(server: string, ...refs: string[]): string {
  const dir = tempDir();
  git(dir, 'init', '--quiet');
  git(dir, 'remote', 'add', 'origin', `file://${server}`);
  git(dir, 'fetch', '--quiet', 'origin', ...refs);
  git(dir, 'checkout', '--quiet', '--detach', git(server, 'rev-parse', 'feature'));
  git(dir, 'remote', 'set-url', 'origin', 'https://gitlab-ci-token:SECRET@gitlab.example/shop.git');
  return dir;
}

it('BL-2 CL-10 the job for GitLab removes git’s token and still finds the base of the branch', async () => {
  const { dir, base } = onServer();
  const runner = onRunner(dir, '+refs/heads/*:refs/remotes/origin/*');
  const place = { cwd: runner, root: runner, defaultBranch: 'main' };
  const [text = ''] = renderWorkflows({ system: 'gitlab', agent: null, ...place });
  const job = (parse(text) as Record<string, { script: string[]; variables: object }>)['self-heal'];
  // The whole history, as fetched above.
  expect(job?.variables).toEqual({ GIT_DEPTH: '0' });
  const ofGit = job?.script.filter((line) => line.startsWith('git ')) ?? [];
  for (const line of ofGit) execaSync(line, { cwd: runner, shell: true });
  expect(readFileSync(path.join(runner, '.git/config'), 'utf8')).not.toContain('SECRET');
  expect(await findBase(runner, null, { CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'trunk' })).toBe(base);
  expect(await findBase(runner, null, { CI_DEFAULT_BRANCH: 'trunk' })).toBe(base);
  expect(await findBase(runner, null, {})).toMatchObject({ kind: 'unknown-base' });
});

it('BL-2 takes the base of a merge request from GitLab’s variables if the target was not fetched', async () => {
  const { dir, base } = onServer();
  const variables = { CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'trunk', CI_MERGE_REQUEST_DIFF_BASE_SHA: base };
  expect(await findBase(onRunner(dir, '--depth=20', 'feature'), null, variables)).toBe(base);
  const apart = onRunner(dir, '--depth=4', 'feature');
  git(apart, 'fetch', '--quiet', '--depth=1', `file://${dir}`, '+trunk:refs/remotes/origin/trunk');
  expect(await findBase(apart, null, variables)).toBe(base);
  const shallow = onRunner(dir, '--depth=1', 'feature');
  expect(await findBase(shallow, null, variables)).toMatchObject({ kind: 'unknown-base' });
});

it('HN-1 leaves the index as it is if files were touched but not changed', async () => {
  const { dir } = onServer();
  const index = path.join(dir, '.git/index');
  const bytes = readFileSync(index);
  utimesSync(path.join(dir, 'first'), new Date(0), new Date(0));
  expect(await compareWithGit(dir, 'HEAD')).toMatchObject({ changes: [] });
  expect(readFileSync(index).equals(bytes)).toBe(true);
});

it('BL-2 sees a change of the same length made at the moment when the index was written', async () => {
  const { dir } = onServer();
  const [file, index] = [path.join(dir, 'first'), path.join(dir, '.git/index')];
  const at = new Date('2026-01-02T03:04:05Z');
  git(dir, 'config', 'core.trustctime', 'false');
  utimesSync(file, at, at);
  git(dir, 'update-index', '--refresh');
  writeFileSync(file, 'FIRST');
  for (const one of [file, index]) utimesSync(one, at, at);
  expect(await compareWithGit(dir, 'HEAD')).toMatchObject({ changes: [{ path: 'first' }] });
});

it.each([
  ['--assume-unchanged', 'git update-index --assume-unchanged first'],
  ['--skip-worktree', 'git update-index --skip-worktree first'],
  [
    'a clean filter',
    "echo 'first filter=x' > .git/info/attributes; git config filter.x.clean 'printf first'",
  ],
  ['git replace', 'git replace $(git rev-parse HEAD:first) $(git hash-object -w first)'],
  [
    'a replaced commit',
    'git add -A; git replace $(git rev-parse HEAD) $(git commit-tree $(git write-tree) -m x)',
  ],
])('HN-12 HN-3 finds changes hidden from git by %s', async (_, hide) => {
  const { dir } = onServer();
  const head = git(dir, 'rev-parse', 'HEAD');
  writeFileSync(path.join(dir, 'first'), 'weaker');
  execaSync(hide, { cwd: dir, shell: true });
  const changed = await compareWithGit(dir, head);
  if ('kind' in changed) throw new Error(changed.kind);
  expect([...changed.changes, ...(await changed.findHidden())].map((one) => one.path)).toEqual(['first']);
  expect(String((await changed.before.readFiles(['first'])).get('first'))).toBe('first');
});

it('HN-12 does not count converted line endings or Git LFS contents as hidden changes', async () => {
  const { dir } = onServer();
  const file = path.join(dir, 'picture');
  const [bytes, lines] = ['PNG', 'a\nb\n'];
  const id = createHash('sha256').update(bytes).digest('hex');
  writeFileSync(file, `version https://git-lfs.github.com/spec/v1\noid sha256:${id}\nsize 3\n`);
  writeFileSync(path.join(dir, 'lines'), lines);
  git(dir, 'add', '--all');
  git(dir, 'commit', '--quiet', '-m', 'picture');
  writeFileSync(file, bytes);
  writeFileSync(path.join(dir, 'lines'), lines.replaceAll('\n', '\r\n'));
  git(dir, 'update-index', '--assume-unchanged', 'picture', 'lines');
  const changed = await compareWithGit(dir, 'HEAD');
  expect('kind' in changed ? changed.kind : await changed.findHidden()).toEqual([]);
});

it('HN-12 names git-ignored files that the changed code now reads', async () => {
  const { dir } = onServer();
  const write = (files: Record<string, string>) => {
    for (const [file, text] of Object.entries(files)) writeFileSync(path.join(dir, file), text);
  };
  write({ '.gitignore': 'own*\n', 'a.mjs': "import './own-known.mjs';\n" });
  git(dir, 'add', '--all');
  git(dir, 'commit', '--quiet', '-m', 'a');
  write({
    'own-known.mjs': '',
    'own.mjs': '',
    'own.json': '1',
    'own-other.json': '2',
    'a.mjs': "import './own-known.mjs';\nimport './own';\nread('own.json', 'other.json');\n",
  });
  const changed = await compareWithGit(dir, 'HEAD');
  if ('kind' in changed) throw new Error(changed.kind);
  expect((await findIgnoredReads(changed)).map(({ file, says }) => `${file}: ${says}`)).toEqual([
    'a.mjs: it reads own.mjs, which git ignores: no other machine has that file',
    'a.mjs: it reads own.json, which git ignores: no other machine has that file',
  ]);
});

it('HN-12 names a submodule whose uncommitted changes cannot be compared', async () => {
  const [{ dir }, { dir: shared }] = [onServer(), onServer()];
  writeFileSync(path.join(shared, 'helper.mjs'), 'strict\n');
  git(shared, 'add', '--all');
  git(shared, 'commit', '--quiet', '-m', 'helper');
  git(dir, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', shared, 'tests/shared');
  git(dir, 'commit', '--quiet', '-m', 'submodule');
  expect(await findDirtySubmodules(dir)).toEqual([]);
  writeFileSync(path.join(dir, 'tests/shared/helper.mjs'), 'weak\n');
  expect(await findDirtySubmodules(dir)).toMatchObject([{ rule: 'dirty-submodule', file: 'tests/shared' }]);
});

it('HN-3 distinguishes a missing folder from a missing git', async () => {
  const missing = path.join(tempDir(), 'gone');
  expect(await compareWithGit(missing, null)).toMatchObject({ kind: 'no-repository' });
  vi.stubEnv('PATH', tempDir());
  expect(await compareWithGit(tempDir(), null)).toMatchObject({ kind: 'no-git' });
  vi.unstubAllEnvs();
});
