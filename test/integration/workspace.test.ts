import {
  appendFileSync,
  chmodSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { execaSync } from 'execa';
import { describe, expect, it } from 'vitest';
import { undoChanges } from '../../src/run/undo.js';
import { openContentStore, readChange } from '../../src/workspace/change.js';
import { findUnwritable } from '../../src/workspace/project-files.js';
import { renderChange } from '../../src/workspace/patch-text.js';
import { agentWorkspace, inventoryOf, writeInto } from '../rig/agent-workspace.js';
import { tempDir } from '../rig/temp-dir.js';

const files = {
  'package.json': '{ "name": "shop" }\n',
  '.gitignore': 'node_modules\n.env\ndata/\nbuild/\n',
  'src/cart.js': 'one\ntwo\nthree\nfour\nfive\nsix\n',
  'src/old.js': 'old\n',
  '.env': 'PORT=1\n',
  'data/orders.db': 'orders\n',
  'build/out.js': 'built\n',
  'node_modules/left-pad/index.js': 'pad\n',
};

describe('the copy', () => {
  it('HN-1 contains tracked, untracked, ignored and installed files, outside the project', async () => {
    const { workspace, dir, write } = await agentWorkspace(files);
    write({ 'src/new.js': 'untracked\n' });
    const { cwd } = await workspace.updateCopy();
    for (const file of [...Object.keys(files), 'src/new.js'])
      expect(readFileSync(path.join(cwd, file), 'utf8'), file).toBe(
        readFileSync(path.join(dir, file), 'utf8'),
      );
    expect(path.relative(dir, cwd)).toMatch(/^\.\./);
    expect(statSync(path.join(cwd, 'node_modules/left-pad/index.js')).ino).not.toBe(
      statSync(path.join(dir, 'node_modules/left-pad/index.js')).ino,
    );
  });

  it('HN-1 has a repository of its own, with the history of the project', async () => {
    const { workspace, git } = await agentWorkspace(files);
    const { cwd } = await workspace.updateCopy();
    const inCopy = (...args: string[]) => execaSync('git', args, { cwd }).stdout;
    expect(inCopy('log', '--format=%s')).toBe('first');
    expect(inCopy('remote')).toBe('');
    const before = git('for-each-ref') + git('status', '--porcelain') + git('stash', 'list');
    inCopy('commit', '--allow-empty', '-m', 'mine');
    inCopy('branch', 'mine');
    inCopy('reset', '--hard', '--quiet', 'HEAD~1');
    inCopy('gc', '--quiet', '--prune=now');
    expect(git('for-each-ref') + git('status', '--porcelain') + git('stash', 'list')).toBe(before);
    expect(git('fsck', '--no-progress')).toBe('');
  });

  it('HN-1 of a package contains the whole repository, and the agent works in the package', async () => {
    const { workspace, applied, read } = await agentWorkspace(
      { 'package.json': '{}', 'packages/app/a.js': 'a\n', 'packages/lib/b.js': 'b\n' },
      { at: 'packages/app' },
    );
    const { cwd } = await workspace.updateCopy();
    expect(cwd).toMatch(/packages.app$/);
    const done = await applied((copy) => writeInto(copy, { 'a.js': 'fixed\n', '../lib/b.js': 'fixed\n' }));
    expect(done).toMatchObject({ kind: 'applied' });
    expect([read('packages/app/a.js'), read('packages/lib/b.js')]).toEqual(['fixed\n', 'fixed\n']);
  });

  it('HN-1 changes of a nested repository or of git-ignored files never leave the copy', async () => {
    const { dir, workspace, agent, write } = await agentWorkspace(files);
    write({ 'sub/b.js': 'b\n' });
    execaSync('git', ['init', '--quiet'], { cwd: path.join(dir, 'sub') });
    const { cwd } = await workspace.updateCopy();
    expect(readFileSync(path.join(cwd, 'sub/b.js'), 'utf8')).toBe('b\n');
    const written = ['src/cart.js', 'sub/b.js', 'sub/new.js', 'data/new.db', '.env'];
    const { change, ignored } = await agent((copy) =>
      writeInto(copy, Object.fromEntries(written.map((file) => [file, 'fixed\n']))),
    );
    expect(change?.edits.map((edit) => edit.path)).toEqual(['.env', 'src/cart.js']);
    expect(ignored.toSorted()).toEqual(['data/new.db', 'sub/b.js', 'sub/new.js']);
    const unwritable = await findUnwritable(dir, [...written, 'node_modules/a.js', '.git/config']);
    expect([...unwritable].toSorted()).toEqual([
      '.git/config',
      'data/new.db',
      'node_modules/a.js',
      'sub/b.js',
      'sub/new.js',
    ]);
  });

  it.each([true, false])('HN-1 works the same with a repository and without one (git: %s)', async (git) => {
    const { dir, applied, workspace } = await agentWorkspace(files, { git });
    const before = inventoryOf(dir);
    const done = await applied((cwd) => writeInto(cwd, { 'src/cart.js': 'fixed\n', 'src/new.js': 'new\n' }));
    if (done.kind !== 'applied') throw new Error(done.kind);
    expect(readFileSync(path.join(dir, 'src/cart.js'), 'utf8')).toBe('fixed\n');
    await workspace.revert([done.change.id]);
    expect(inventoryOf(dir)).toEqual(before);
  });

  it('SC-3 is separate for each parallel agent, and changes to different lines are merged', async () => {
    const { workspace, read } = await agentWorkspace(files);
    const copies = await Promise.all([0, 1, 2].map((n) => workspace.updateCopy(n)));
    expect(new Set(copies.map(({ folder }) => folder)).size).toBe(3);
    const works = [
      files['src/cart.js'].replace('one', '1'),
      files['src/cart.js'].replace('six', '6'),
      'other\n',
    ];
    for (const [n, { cwd }] of copies.entries()) writeInto(cwd, { 'src/cart.js': works[n] ?? '' });
    const applied = [];
    for (const n of copies.keys()) {
      const { change } = await workspace.collectChanges(String(n + 1), n);
      applied.push((await workspace.apply(change!)).kind);
    }
    expect(applied).toEqual(['applied', 'applied', 'conflict']);
    expect(read('src/cart.js')).toBe('1\ntwo\nthree\nfour\nfive\n6\n');
    await workspace.close();
    expect(copies.map(({ folder }) => existsSync(folder))).toEqual([false, false, false]);
  });

  it('HN-1 contains no links out of the project, so an agent cannot write through them', async () => {
    const outside = tempDir();
    writeInto(outside, { 'notes.txt': 'mine\n', 'pkg/index.js': 'mine\n' });
    const { dir, agent } = await agentWorkspace({ 'package.json': '{}' });
    symlinkSync(path.join(outside, 'notes.txt'), path.join(dir, 'notes.txt'));
    symlinkSync(outside, path.join(dir, 'linked'));
    symlinkSync(path.join(outside, 'pkg'), path.join(dir, 'node_modules'));
    const { change } = await agent((cwd) => {
      for (const file of ['notes.txt', 'linked/notes.txt', 'node_modules/index.js'])
        if (existsSync(path.join(cwd, file))) appendFileSync(path.join(cwd, file), 'agent\n');
    });
    expect(change).toBeNull();
    expect(readFileSync(path.join(outside, 'notes.txt'), 'utf8')).toBe('mine\n');
    expect(readFileSync(path.join(outside, 'pkg/index.js'), 'utf8')).toBe('mine\n');
  });

  it('HN-1 is deleted when the workspace closes, which also reverts undecided changes', async () => {
    const { workspace, applied, read, dir } = await agentWorkspace(files);
    const { folder } = await workspace.updateCopy();
    const kept = await applied((cwd) => writeInto(cwd, { 'src/old.js': 'kept\n' }));
    if (kept.kind === 'applied') await workspace.markDecided([kept.change.id]);
    await applied((cwd) => writeInto(cwd, { 'src/cart.js': 'unproven\n', 'src/new.js': 'unproven\n' }));
    await workspace.close();
    expect([read('src/old.js'), read('src/cart.js')]).toEqual(['kept\n', files['src/cart.js']]);
    expect(existsSync(path.join(dir, 'src/new.js'))).toBe(false);
    expect(existsSync(folder)).toBe(false);
  });
});

describe('the patch', () => {
  it('HN-1 contains source and .env files, no other ignored file, no installed package', async () => {
    const { agent, dir } = await agentWorkspace(files);
    const before = inventoryOf(dir);
    const { change, ignored } = await agent((cwd) =>
      writeInto(cwd, {
        '.env': 'PORT=2\n',
        'data/orders.db': 'gone\n',
        'data/new.db': 'x',
        'build/out.js': 'again\n',
        'node_modules/left-pad/index.js': 'hacked\n',
        'node_modules/new/index.js': 'x',
        '.self-heal/x': 'x',
        'test-results/x.txt': 'x',
        // What a program writes for itself is not its work.
        '.opencode/.gitignore': 'package.json\n.gitignore\n',
        '.opencode/package.json': '{}',
        '.opencode/opencode.jsonc': '{}',
        '.agent/.gitignore': 'package.json\n.gitignore\n',
        '.agent/package.json': '{}',
      }),
    );
    expect(change?.edits.map((one) => one.path)).toEqual(['.env']);
    expect(ignored.toSorted()).toEqual([
      '.agent/.gitignore',
      '.agent/package.json',
      'build/out.js',
      'data/new.db',
      'data/orders.db',
    ]);
    expect(inventoryOf(dir)).toEqual(before);
  });

  it('HN-1 can be applied by git apply, with modes, binary files and odd names', async () => {
    const given = {
      ...files,
      'logo.png': `\0${'x'.repeat(200)}`,
      'empty.txt': '',
      'ünï cödé.txt': 'a\n',
      'run.sh': '#!/bin/sh\n',
      'crlf.txt': 'a\r\nb\r\n',
    };
    const { agent, runDir, git, dir } = await agentWorkspace(given);
    const { change } = await agent((cwd) => {
      writeInto(cwd, {
        'src/cart.js': files['src/cart.js'].replace('two', '2').replace('six\n', '6'),
        'logo.png': `\0${'y'.repeat(500)}`,
        'new.png': '\0new',
        'ünï cödé.txt': 'b\n',
        'with "quotes".txt': 'q\n',
        'empty-too.txt': '',
        'crlf.txt': 'a\r\nc\r\n',
      });
      rmSync(path.join(cwd, 'src/old.js'));
      chmodSync(path.join(cwd, 'run.sh'), 0o755);
    });
    if (!change) throw new Error('no change');
    const { patch, files: named } = await renderChange(change, openContentStore(runDir));
    expect(named.find((one) => one.path === 'src/cart.js')).toEqual({
      path: 'src/cart.js',
      added: 2,
      removed: 2,
    });
    expect(patch.toString()).toContain('\n+++ b/ünï cödé.txt');
    writeFileSync(path.join(dir, '.self-heal', 'a.patch'), patch);
    git('apply', path.join('.self-heal', 'a.patch'));
    const states = await Promise.all(
      change.edits.map(async ({ path: file, after }) => [
        file,
        after && (await openContentStore(runDir).get(after.hash)).toString('latin1'),
      ]),
    );
    for (const [file, text] of states as [string, string | null][]) {
      const place = path.join(dir, file);
      expect(existsSync(place) ? readFileSync(place, 'latin1') : null, file).toBe(text);
    }
    expect(statSync(path.join(dir, 'run.sh')).mode & 0o111).toBe(0o111);
  });
});

function replaceIn(file: string, from: string, to: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
}

describe('applying a change', () => {
  it('HN-1 writes nothing after the run has ended', async () => {
    const { agent, workspace, read } = await agentWorkspace(files);
    const { change } = await agent((cwd) => writeInto(cwd, { 'src/cart.js': 'fixed\n' }));
    const ended = workspace.close();
    await expect(workspace.apply(change!)).rejects.toThrow('the run has ended');
    await ended;
    expect(read('src/cart.js')).toBe(files['src/cart.js']);
  });

  it('HN-1 refuses a change while others are reverted', async () => {
    const { agent, workspace } = await agentWorkspace(files);
    const { change } = await agent((cwd) => writeInto(cwd, { 'src/cart.js': 'fixed\n' }));
    await workspace.apply(change!);
    await workspace.revertTemporarily([change!.id]);
    await expect(workspace.apply({ ...change!, id: '2' })).rejects.toThrow('while others were reverted');
  });

  it('HN-1 merges it with the user’s edits in other lines, and its revert keeps exactly those', async () => {
    const { agent, workspace, read, write } = await agentWorkspace(files);
    const { change } = await agent((cwd) =>
      writeInto(cwd, { 'src/cart.js': files['src/cart.js'].replace('one', 'fixed') }),
    );
    write({ 'src/cart.js': files['src/cart.js'].replace('six', 'edited') });
    const done = await workspace.apply(change!);
    if (done.kind !== 'applied') throw new Error(done.kind);
    expect(read('src/cart.js')).toBe('fixed\ntwo\nthree\nfour\nfive\nedited\n');
    await workspace.revert([done.change.id]);
    expect(read('src/cart.js')).toBe('one\ntwo\nthree\nfour\nfive\nedited\n');
  });

  it.each([
    ['the same lines', { 'src/cart.js': 'mine\n' }],
    ['a file that the agent adds', { 'src/new.js': 'mine\n' }],
    ['a file that the agent deletes', { 'src/old.js': 'mine\n' }],
  ])('HN-1 writes nothing and names the file if the user has edited %s since', async (_, edit) => {
    const { agent, workspace, write, dir } = await agentWorkspace(files);
    const { change } = await agent((cwd) => {
      writeInto(cwd, { 'src/cart.js': 'fixed\n', 'src/new.js': 'new\n', 'a-first.js': 'a\n' });
      rmSync(path.join(cwd, 'src/old.js'));
    });
    write(edit);
    const before = inventoryOf(dir);
    expect(await workspace.apply(change!)).toEqual({ kind: 'conflict', files: Object.keys(edit) });
    expect(inventoryOf(dir)).toEqual(before);
    expect(existsSync(path.join(dir, '.self-heal/journal.json'))).toBe(false);
  });

  it('HN-1 does not revert a file that the user edited afterwards, and names it', async () => {
    const { applied, workspace, read, write } = await agentWorkspace(files);
    const done = await applied((cwd) =>
      writeInto(cwd, { 'src/cart.js': 'fixed\n', 'src/old.js': 'fixed\n' }),
    );
    if (done.kind !== 'applied') throw new Error(done.kind);
    write({ 'src/cart.js': 'mine\n' });
    const moved = await workspace.revertTemporarily([done.change.id]);
    expect(moved).toEqual({ written: ['src/old.js'], leftAlone: ['src/cart.js'] });
    expect([read('src/cart.js'), read('src/old.js')]).toEqual(['mine\n', 'old\n']);
  });

  it('HN-1 keeps the user’s edit between two fixes of a file when both are reverted', async () => {
    const cart = files['src/cart.js'];
    const { applied, workspace, read, write } = await agentWorkspace(files);
    const fix = (from: string) => applied((cwd) => replaceIn(path.join(cwd, 'src/cart.js'), from, 'fixed'));
    await fix('one');
    write({ 'src/cart.js': read('src/cart.js').replace('three', 'edited') });
    expect(await fix('six')).toMatchObject({ kind: 'applied' });
    expect(read('src/cart.js')).toBe('fixed\ntwo\nedited\nfour\nfive\nfixed\n');
    await workspace.close();
    expect(read('src/cart.js')).toBe(cart.replace('three', 'edited'));
  });

  it('HN-1 applies no fix on top of one whose lines the user has edited, and names the file at the end', async () => {
    const { applied, workspace, read, write, warnings } = await agentWorkspace(files);
    const fix = (from: string) => applied((cwd) => replaceIn(path.join(cwd, 'src/cart.js'), from, 'fixed'));
    await fix('one');
    write({ 'src/cart.js': read('src/cart.js').replace('fixed', 'mine') });
    expect(await fix('six')).toEqual({ kind: 'conflict', files: ['src/cart.js'] });
    await workspace.close();
    expect(read('src/cart.js')).toBe(files['src/cart.js'].replace('one', 'mine'));
    expect(warnings).toEqual([
      expect.stringMatching(/somebody else has changed it: src\/cart\.js; its earlier content/),
    ]);
  });

  it('HN-1 HN-5 keeps the user’s edits and the mode while a fix is reverted, then restored', async () => {
    const { applied, workspace, read, write, dir, runDir } = await agentWorkspace(files);
    const lines = files['src/cart.js'];
    await applied((cwd) => writeInto(cwd, { 'src/cart.js': lines.replace('one', 'fixed') }));
    const edit = (from: string, to: string) =>
      write({ 'src/cart.js': read('src/cart.js').replace(from, to) });
    edit('six', 'edited');
    expect(await workspace.revertTemporarily(['1'])).toEqual({ written: ['src/cart.js'], leftAlone: [] });
    expect(read('src/cart.js')).toBe(lines.replace('six', 'edited'));
    edit('four', 'edited, too');
    chmodSync(path.join(dir, 'src/cart.js'), 0o755);
    expect(await workspace.revertTemporarily([])).toEqual({ written: ['src/cart.js'], leftAlone: [] });
    const [theirs, both] = [lines, lines.replace('one', 'fixed')].map((text) =>
      text.replace('six', 'edited').replace('four', 'edited, too'),
    );
    expect(read('src/cart.js')).toBe(both);
    await workspace.markDecided(['1']);
    const change = readChange(runDir, '1');
    await undoChanges(dir, { runId: path.basename(runDir), dir: runDir }, [change!]);
    expect(read('src/cart.js')).toBe(theirs);
  });

  it('HN-1 reverts a change although somebody has deleted .self-heal meanwhile', async () => {
    const { applied, workspace, read, dir } = await agentWorkspace(files);
    await applied((cwd) => writeInto(cwd, { 'src/cart.js': 'fixed\n' }));
    rmSync(path.join(dir, '.self-heal'), { recursive: true });
    await workspace.revert(['1']);
    expect(read('src/cart.js')).toBe(files['src/cart.js']);
    expect(existsSync(path.join(dir, '.self-heal/journal.json'))).toBe(false);
  });

  it('HN-1 does not write through a link in its way', async () => {
    const outside = tempDir();
    const { agent, workspace, dir } = await agentWorkspace({ 'src/a.js': 'a\n' });
    const { change } = await agent((cwd) => writeInto(cwd, { 'src/a.js': 'fixed\n', 'src/b.js': 'b\n' }));
    rmSync(path.join(dir, 'src'), { recursive: true });
    writeInto(outside, { 'a.js': 'a\n' });
    symlinkSync(outside, path.join(dir, 'src'));
    expect(await workspace.apply(change!)).toMatchObject({ kind: 'conflict' });
    expect(inventoryOf(outside)).toEqual({ 'a.js': expect.stringContaining('a\n') as string });
  });

  it('HN-1 HN-5 reverts a fix with the fixes built on it, and reapplies those that still fit', async () => {
    const { applied, workspace, read } = await agentWorkspace(files);
    const lines = files['src/cart.js'];
    await applied((cwd) => writeInto(cwd, { 'src/cart.js': lines.replace('one', 'first') }));
    await applied((cwd) =>
      writeInto(cwd, { 'src/cart.js': lines.replace('one', 'first').replace('six', 'last') }),
    );
    await applied((cwd) => writeInto(cwd, { 'src/old.js': 'third\n' }));
    await workspace.revertTemporarily(['1']);
    expect([read('src/cart.js'), read('src/old.js')]).toEqual([lines, 'third\n']);
    await workspace.revertTemporarily(['2', '3']);
    expect([read('src/cart.js'), read('src/old.js')]).toEqual([lines.replace('one', 'first'), 'old\n']);
    expect(await workspace.revert(['1'])).toMatchObject({ lost: [] });
    expect([read('src/cart.js'), read('src/old.js')]).toEqual([lines.replace('six', 'last'), 'third\n']);
    await applied((cwd) => writeInto(cwd, { 'src/cart.js': lines.replace('six', 'very last') }));
    expect(await workspace.revert(['2'])).toMatchObject({ lost: ['4'] });
    expect(read('src/cart.js')).toBe(lines);
  });
});
