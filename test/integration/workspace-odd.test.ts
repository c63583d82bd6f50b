import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openWorkspace, type Workspace } from '../../src/workspace/workspace.js';
import { tempDir } from '../rig/temp-dir.js';

let dir: string;
const file = (name: string) => path.join(dir, name);
const write = (name: string, text: string) => {
  mkdirSync(path.dirname(file(name)), { recursive: true });
  writeFileSync(file(name), text);
};
const gitIn = (cwd: string, ...args: string[]) =>
  execFileSync(
    'git',
    ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'protocol.file.allow=always', ...args],
    { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
const git = (...args: string[]) => gitIn(dir, ...args);

async function open(root = dir): Promise<Workspace> {
  const workspace = await openWorkspace(root);
  if (!workspace) throw new Error('There is no git program.');
  return workspace;
}

/** Every file and folder below a folder, by the bytes of its name: mode and bytes, links as links. */
function filesIn(top: string): Record<string, string> {
  const found: Record<string, string> = {};
  const look = (folder: Buffer) => {
    for (const entry of readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })) {
      const place = Buffer.concat([folder, Buffer.from('/'), entry.name]);
      const name = place.subarray(Buffer.byteLength(top) + 1).toString('latin1');
      if (/(?:^|\/)\.(?:git|self-heal)(?:$|\/)/.test(name)) continue;
      if (entry.isDirectory()) look(place);
      else if (entry.isSymbolicLink()) found[name] = `link ${readlinkSync(place)}`;
      else found[name] = `${(lstatSync(place).mode & 0o777).toString(8)} ${readFileSync(place, 'latin1')}`;
    }
  };
  look(Buffer.from(top));
  return found;
}

/** What the user's git knows: branch, refs, stash, and its index byte for byte. */
function gitState(cwd = dir): unknown[] {
  if (!existsSync(path.join(cwd, '.git'))) return [];
  const index = path.resolve(cwd, gitIn(cwd, 'rev-parse', '--git-path', 'index').trim());
  return [
    readFileSync(path.resolve(cwd, gitIn(cwd, 'rev-parse', '--git-path', 'HEAD').trim()), 'utf8'),
    gitIn(cwd, 'for-each-ref'),
    gitIn(cwd, 'stash', 'list'),
    existsSync(index) ? readFileSync(index).toString('base64') : null,
  ];
}

/** An agent's edit is recorded, and taken back: everything is as it was, and the user's git never changed. */
async function thereAndBack(edit: () => void, root = dir): Promise<string[]> {
  const [files, state] = [filesIn(dir), gitState(root)];
  const workspace = await open(root);
  const before = await workspace.checkpoint();
  edit();
  const edited = filesIn(dir);
  expect(edited).not.toEqual(files);
  const after = await workspace.checkpoint();
  const changes = await workspace.changes(before, after);
  expect(await workspace.takeBack(before, after)).toMatchObject({ leftAlone: [] });
  expect(filesIn(dir)).toEqual(files);
  await workspace.takeBack(after, before);
  expect(filesIn(dir)).toEqual(edited);
  await workspace.takeBack(before, after);
  expect(gitState(root)).toEqual(state);
  return changes.map((one) => one.path);
}

beforeEach(() => {
  dir = tempDir();
});

describe('HN-1 a checkpoint gives back', () => {
  it('a repository without a commit', async () => {
    git('init', '-q');
    write('a.txt', 'a\n');
    expect(await thereAndBack(() => write('a.txt', 'b\n'))).toEqual(['a.txt']);
  });

  it('CRLF files of a repository that converts them', async () => {
    git('init', '-q');
    git('config', 'core.autocrlf', 'true');
    write('.gitattributes', '*.md text eol=lf\n* text=auto\n');
    write('a.txt', 'one\r\ntwo\r\n');
    write('mixed.md', 'one\r\ntwo\n');
    git('add', '.');
    git('commit', '-qm', 'first');
    const edit = () => {
      write('a.txt', 'one\ntwo\n');
      write('mixed.md', 'one\n');
    };
    expect(await thereAndBack(edit)).toEqual(['a.txt', 'mixed.md']);
  });

  it('a mode that alone was changed, also where git is told to ignore modes', async () => {
    git('init', '-q');
    git('config', 'core.fileMode', 'false');
    write('run.sh', 'x\n');
    chmodSync(file('run.sh'), 0o755);
    expect(await thereAndBack(() => chmodSync(file('run.sh'), 0o644))).toEqual(['run.sh']);
  });

  it('a read-only file, and that it is one', async () => {
    write('locked.txt', 'a\n');
    chmodSync(file('locked.txt'), 0o444);
    const edit = () => {
      chmodSync(file('locked.txt'), 0o644);
      write('locked.txt', 'b\n');
      chmodSync(file('locked.txt'), 0o444);
    };
    await thereAndBack(edit);
  });

  it('a file that nobody else may read, also where it was deleted', async () => {
    write('.env', 'KEY=1\n');
    chmodSync(file('.env'), 0o600);
    await thereAndBack(() => rmSync(file('.env')));
    expect(lstatSync(file('.env')).mode & 0o777).toBe(0o600);
  });

  it('a link in whose place a folder was put, and a folder in whose place a link was', async () => {
    write('real/a.txt', 'a\n');
    write('folder/b.txt', 'b\n');
    symlinkSync('real', file('link'));
    const edit = () => {
      rmSync(file('link'));
      write('link/a.txt', 'other\n');
      rmSync(file('folder'), { recursive: true });
      symlinkSync('real', file('folder'));
    };
    await thereAndBack(edit);
  });

  it('a file in whose place a folder was put, and a folder in whose place a file was', async () => {
    write('a', 'file\n');
    write('b/c/d.txt', 'd\n');
    const edit = () => {
      rmSync(file('a'));
      write('a/inner.txt', 'x\n');
      rmSync(file('b'), { recursive: true });
      write('b', 'now a file\n');
    };
    await thereAndBack(edit);
  });

  it('a name whose case alone was changed', async () => {
    git('init', '-q');
    write('Readme.md', 'a\n');
    git('add', '.');
    expect(await thereAndBack(() => renameSync(file('Readme.md'), file('README.md')))).toEqual([
      'README.md',
      'Readme.md',
    ]);
  });

  it.runIf(process.platform === 'linux')('names that differ in their case alone', async () => {
    git('init', '-q');
    git('config', 'core.ignoreCase', 'true');
    write('a.txt', 'lower\n');
    write('A.txt', 'upper\n');
    expect(await thereAndBack(() => write('A.txt', 'agent\n'))).toEqual(['A.txt']);
  });

  it.runIf(process.platform === 'linux')('names that are not UTF-8', async () => {
    const name = Buffer.concat([
      Buffer.from(dir),
      Buffer.from('/b'),
      Buffer.from([0xe4]),
      Buffer.from('.txt'),
    ]);
    writeFileSync(name, 'a\n');
    const added = Buffer.concat([
      Buffer.from(dir),
      Buffer.from('/n'),
      Buffer.from([0xfc]),
      Buffer.from('.txt'),
    ]);
    const edit = () => {
      writeFileSync(name, 'b\n');
      writeFileSync(added, 'new\n');
    };
    await thereAndBack(edit);
  });

  it('names with line ends, tabs, quotes and what git takes for a pattern', async () => {
    const names = ['a\nb.txt', 'tab\t.txt', '"quoted".txt', ':(glob)*.txt', '[a-z]*.txt', '-rf', '!not.txt'];
    for (const name of names) write(name, 'a\n');
    const edit = () => {
      for (const name of names) write(name, 'b\n');
    };
    expect(await thereAndBack(edit)).toHaveLength(names.length);
  });

  it('the files of a sparse checkout, and lets those that are not checked out be', async () => {
    git('init', '-q');
    write('in/a.txt', 'a\n');
    write('out/b.txt', 'b\n');
    git('add', '.');
    git('commit', '-qm', 'first');
    git('sparse-checkout', 'set', 'in');
    expect(existsSync(file('out/b.txt'))).toBe(false);
    const edit = () => {
      write('in/a.txt', 'agent\n');
      write('out/c.txt', 'agent\n');
    };
    expect(await thereAndBack(edit)).toEqual(['in/a.txt', 'out/c.txt']);
    expect(existsSync(file('out/b.txt'))).toBe(false);
  });

  it('another worktree of a repository, whose .git is a file', async () => {
    git('init', '-q', 'main');
    write('main/a.txt', 'a\n');
    gitIn(file('main'), 'add', '.');
    gitIn(file('main'), 'commit', '-qm', 'first');
    gitIn(file('main'), 'worktree', 'add', '-q', '../other');
    const main = gitState(file('main'));
    expect(await thereAndBack(() => write('other/a.txt', 'agent\n'), file('other'))).toEqual(['a.txt']);
    expect(gitState(file('main'))).toEqual(main);
  });

  it('the files of a submodule and of a repository inside the repository', async () => {
    git('init', '-q', 'lib');
    write('lib/a.txt', 'a\n');
    gitIn(file('lib'), 'add', '.');
    gitIn(file('lib'), 'commit', '-qm', 'first');
    git('init', '-q', 'app');
    gitIn(file('app'), 'submodule', 'add', '-q', '../lib', 'vendor/lib');
    gitIn(file('app'), 'commit', '-qm', 'first');
    git('init', '-q', 'app/nested');
    write('app/nested/b.txt', 'b\n');
    const inner = [gitState(file('app/vendor/lib')), gitState(file('app/nested'))];
    const edit = () => {
      write('app/vendor/lib/a.txt', 'agent\n');
      write('app/vendor/lib/new.txt', 'agent\n');
      write('app/nested/b.txt', 'agent\n');
    };
    expect(await thereAndBack(edit, file('app'))).toEqual([
      'nested/b.txt',
      'vendor/lib/a.txt',
      'vendor/lib/new.txt',
    ]);
    expect([gitState(file('app/vendor/lib')), gitState(file('app/nested'))]).toEqual(inner);
  });
});
