import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openWorkspace, type Workspace } from '../../src/workspace/workspace.js';
import { tempDir } from '../rig/temp-dir.js';

let dir: string;
const file = (name: string) => path.join(dir, name);
const write = (name: string, text: string | Buffer) => {
  mkdirSync(path.dirname(file(name)), { recursive: true });
  writeFileSync(file(name), text);
};
const read = (name: string) => readFileSync(file(name), 'utf8');
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: dir, encoding: 'utf8' });

async function open(root = dir): Promise<Workspace> {
  const workspace = await openWorkspace(root);
  if (!workspace) throw new Error('There is no git program.');
  return workspace;
}

beforeEach(() => {
  dir = tempDir();
});

describe.each([
  ['in a repository', () => git('init', '-q')],
  ['without a repository', () => undefined],
])('%s', (_, prepare) => {
  beforeEach(() => {
    prepare();
  });

  it('AG-8 names what an agent changed, with lines added and removed', async () => {
    write('src/a.ts', 'one\ntwo\n');
    write('bild ä.bin', Buffer.from([0, 1, 2]));
    const workspace = await open();
    const before = await workspace.checkpoint();
    write('src/a.ts', 'one\n2\nthree\n');
    write('bild ä.bin', Buffer.from([0, 9]));
    write('neu.txt', 'x\n');
    const after = await workspace.checkpoint();
    expect(await workspace.changes(before, after)).toEqual([
      { path: 'bild ä.bin', added: null, removed: null },
      { path: 'neu.txt', added: 1, removed: 0 },
      { path: 'src/a.ts', added: 2, removed: 1 },
    ]);
    expect(await workspace.changes(after, await workspace.checkpoint())).toEqual([]);
  });

  it('HN-1 takes back what was changed, added and deleted, byte for byte', async () => {
    write('crlf.txt', 'a\r\nb\r\n');
    write('latin1.txt', Buffer.from([0xe4, 0x0a]));
    write('gone.txt', 'still needed\n');
    write('run.sh', '#!/bin/sh\n');
    chmodSync(file('run.sh'), 0o755);
    const workspace = await open();
    const before = await workspace.checkpoint();
    write('crlf.txt', 'changed\n');
    write('latin1.txt', 'changed\n');
    rmSync(file('gone.txt'));
    chmodSync(file('run.sh'), 0o644);
    write('new/file.txt', 'x');
    const after = await workspace.checkpoint();
    expect((await workspace.takeBack(before, after)).leftAlone).toEqual([]);
    expect(read('crlf.txt')).toBe('a\r\nb\r\n');
    expect([...readFileSync(file('latin1.txt'))]).toEqual([0xe4, 0x0a]);
    expect(read('gone.txt')).toBe('still needed\n');
    expect(statSync(file('run.sh')).mode & 0o111).toBe(0o111);
    expect(existsSync(file('new/file.txt'))).toBe(false);
  });

  it('HN-2 leaves a file alone that was changed again after the agent', async () => {
    write('a.txt', 'a\n');
    write('b.txt', 'b\n');
    const workspace = await open();
    const before = await workspace.checkpoint();
    write('a.txt', 'agent\n');
    write('b.txt', 'agent\n');
    const after = await workspace.checkpoint();
    write('b.txt', 'the user\n');
    expect(await workspace.takeBack(before, after)).toEqual({ restored: ['a.txt'], leftAlone: ['b.txt'] });
    expect([read('a.txt'), read('b.txt')]).toEqual(['a\n', 'the user\n']);
  });
});

it('HN-2 keeps what somebody put in the place of a file meanwhile', async () => {
  write('a', 'file\n');
  write('b/inner.txt', 'b\n');
  const workspace = await open();
  const before = await workspace.checkpoint();
  rmSync(file('a'));
  rmSync(file('b'), { recursive: true });
  const after = await workspace.checkpoint();
  write('a/mine.txt', 'the user\n');
  write('b', 'the user\n');
  expect(await workspace.takeBack(before, after)).toEqual({ restored: [], leftAlone: ['a', 'b/inner.txt'] });
  expect([read('a/mine.txt'), read('b')]).toEqual(['the user\n', 'the user\n']);
});

it('HN-2 removes no folder that has something in it which git ignores', async () => {
  write('.gitignore', '*.log\n');
  write('a', 'file\n');
  const workspace = await open();
  const before = await workspace.checkpoint();
  rmSync(file('a'));
  write('a/new.txt', 'agent\n');
  const after = await workspace.checkpoint();
  write('a/mine.log', 'the user\n');
  expect(await workspace.takeBack(before, after)).toEqual({ restored: ['a/new.txt'], leftAlone: ['a'] });
  expect(read('a/mine.log')).toBe('the user\n');
});

it('HN-1 leaves index, HEAD, refs and uncommitted work of the user’s repository as they are', async () => {
  git('init', '-q');
  write('a.txt', 'committed\n');
  git('add', '.');
  git('commit', '-qm', 'first');
  write('a.txt', 'staged\n');
  git('add', '.');
  write('a.txt', 'not staged\n');
  write('untracked.txt', 'mine\n');
  const state = () => [
    git('status', '--porcelain'),
    git('rev-parse', 'HEAD'),
    git('stash', 'list'),
    readFileSync(file('.git/index')).toString('base64'),
    git('for-each-ref'),
  ];
  const was = state();
  const workspace = await open();
  const before = await workspace.checkpoint();
  write('untracked.txt', 'agent\n');
  await workspace.takeBack(before, await workspace.checkpoint());
  expect(read('untracked.txt')).toBe('mine\n');
  rmSync(file('.self-heal'), { recursive: true });
  expect(state()).toEqual(was);
});

it('HN-1 records the whole repository of a monorepo package, and a patch that git can apply', async () => {
  git('init', '-q');
  write('packages/ui/button.ts', 'old\n');
  write('packages/shop/cart.ts', 'x\n');
  const workspace = await open(file('packages/shop'));
  const before = await workspace.checkpoint();
  write('packages/ui/button.ts', 'new\n');
  const after = await workspace.checkpoint();
  expect(await workspace.changes(before, after)).toEqual([
    { path: 'packages/ui/button.ts', added: 1, removed: 1 },
  ]);
  const patch = await workspace.patch(before, after);
  await workspace.takeBack(before, after);
  expect(read('packages/ui/button.ts')).toBe('old\n');
  execFileSync('git', ['apply', '-'], { cwd: dir, input: Buffer.from(patch) });
  expect(read('packages/ui/button.ts')).toBe('new\n');
});

it('HN-1 never records node_modules or its own folder, and follows no link', async () => {
  write('a.txt', 'a\n');
  symlinkSync('/etc/hostname', file('link'));
  const workspace = await open();
  const before = await workspace.checkpoint();
  write('node_modules/x/index.js', 'x');
  write('.self-heal/runs/1/report.json', '{}');
  expect(await workspace.changes(before, await workspace.checkpoint())).toEqual([]);
});

it('HN-1 works from inside a git hook, whose environment names another store', async () => {
  git('init', '-q');
  write('a.txt', 'a\n');
  const was = process.env['GIT_DIR'];
  process.env['GIT_DIR'] = '/nowhere';
  try {
    const workspace = await open();
    const before = await workspace.checkpoint();
    write('a.txt', 'b\n');
    expect(await workspace.changes(before, await workspace.checkpoint())).toHaveLength(1);
  } finally {
    if (was === undefined) delete process.env['GIT_DIR'];
    else process.env['GIT_DIR'] = was;
  }
});
