import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { repositoryLock, type RepositoryLock } from '../../src/run/repository-lock.js';
import { tempDir } from '../rig/temp-dir.js';

const folders = ['.git', 'packages/a', 'packages/b'];

/** Returns the lock as a run in this project holds it, which gives up at once where it would have to wait. */
function lockIn(project: string): RepositoryLock {
  const lock = repositoryLock(project, { signal: AbortSignal.abort(), onWait: () => undefined });
  onTestFinished(() => lock[Symbol.dispose]());
  return lock;
}

async function twoProjects(): Promise<[string, string]> {
  const root = tempDir();
  for (const folder of folders) await mkdir(path.join(root, folder), { recursive: true });
  return [path.join(root, 'packages/a'), path.join(root, 'packages/b')];
}

it('HN-2 several runs may test at the same time, but none while another changes files', async () => {
  const [a, b] = (await twoProjects()).map((project) => lockIn(project)) as [RepositoryLock, RepositoryLock];
  expect([await a.hold('shared'), await b.hold('shared')]).toEqual(['held', 'held']);
  expect(await b.hold('exclusive')).toBe('aborted');
  expect([await a.hold('exclusive'), await b.hold('shared')]).toEqual(['held', 'aborted']);
  a[Symbol.dispose]();
  expect(await b.hold('exclusive')).toBe('held');
});

it('HN-2 a run that waits goes on as soon as the other has ended, and knows that it waited', async () => {
  const [a, b] = await twoProjects();
  const holder = lockIn(a);
  await holder.hold('exclusive');
  const { signal } = new AbortController();
  using waiting = repositoryLock(b, { signal, onWait: () => holder[Symbol.dispose]() });
  expect(await waiting.hold('shared')).toBe('waited');
});

it('HN-2 worktrees of a repository do not wait for each other', async () => {
  const [a] = await twoProjects();
  const worktree = tempDir();
  const own = path.join(a, '../../.git/worktrees/w');
  await mkdir(own, { recursive: true });
  await writeFile(path.join(worktree, '.git'), `gitdir: ${own}\n`);
  expect(await lockIn(a).hold('exclusive')).toBe('held');
  expect(await lockIn(worktree).hold('exclusive')).toBe('held');
  expect(await lockIn(worktree).hold('exclusive')).toBe('aborted');
});

it('HN-2 nothing is locked outside a repository', async () => {
  const project = tempDir();
  expect(await lockIn(project).hold('exclusive')).toBe('held');
  expect(await lockIn(project).hold('exclusive')).toBe('held');
});
