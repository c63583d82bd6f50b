import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { undoChanges } from '../../src/run/undo.js';
import { changesFolder, MissingContentError, openContentStore } from '../../src/workspace/change.js';
import { createFolderSnapshot } from '../../src/workspace/project-files.js';
import { mirror } from '../../src/workspace/copy.js';
import { listAllEntries } from '../../src/workspace/project-files.js';
import { openWorkspace } from '../../src/workspace/workspace.js';
import { agentWorkspace, writeInto } from '../rig/agent-workspace.js';
import { tempDir } from '../rig/temp-dir.js';

const files = { 'src/cart.js': 'broken\n' };

it('HN-1 warns if git cannot tell which files it ignores', async () => {
  const { dir, warnings, runDir } = await agentWorkspace(files);
  expect(warnings).toEqual([]);
  writeInto(dir, { '.git/index': 'rubbish' });
  const warn = (message: string) => void warnings.push(message);
  const place = { project: dir, runId: 'r', runDir, contents: openContentStore(runDir) };
  await openWorkspace({ ...place, onCopy: () => undefined, warn });
  expect(warnings).toEqual([expect.stringMatching(/^git cannot read the repository.*index/)]);
});

it('HN-8 an undo without the original contents changes nothing and leaves no journal', async () => {
  const { applied, workspace, read, dir, runDir } = await agentWorkspace(files);
  const done = await applied((cwd) => writeInto(cwd, { 'src/cart.js': 'fixed\n' }));
  if (done.kind !== 'applied') throw new Error(done.kind);
  await workspace.markDecided([done.change.id]);
  await workspace.close();
  rmSync(path.join(changesFolder(runDir), 'contents'), { recursive: true });
  const undone = undoChanges(dir, { runId: path.basename(runDir), dir: runDir }, [done.change]);
  await expect(undone).rejects.toBeInstanceOf(MissingContentError);
  expect(read('src/cart.js')).toBe('fixed\n');
  expect(existsSync(path.join(dir, '.self-heal', 'journal.json'))).toBe(false);
});

it('HN-3 an unreadable file does not count as missing', async () => {
  const { dir } = await agentWorkspace(files);
  const tree = createFolderSnapshot(dir);
  expect([
    ...(await tree.readFiles(['src/cart.js', 'src', 'src/gone.js', 'src/cart.js/below'])).keys(),
  ]).toEqual(['src/cart.js']);
  await expect(tree.readFiles(['n'.repeat(300)])).rejects.toThrow('ENAMETOOLONG');
});

it('HN-1 skips a file that disappears while the project is copied', async () => {
  const [root, target] = [tempDir('project'), path.join(tempDir('copy'), 'tree')];
  writeInto(root, { 'a.js': 'a\n', 'cache/1.tmp': 'one\n', 'z.js': 'z\n' });
  const listed = (await listAllEntries(root)).map((one) => ({ ...one, root }));
  rmSync(path.join(root, 'cache/1.tmp'));
  const copied = await mirror(listed, target, { copyStats: new Map(), retarget: (link) => link });
  expect(copied.map((one) => one.path)).toEqual(['a.js', 'cache', 'z.js']);
  expect(readFileSync(path.join(target, 'z.js'), 'utf8')).toBe('z\n');
  expect(existsSync(path.join(target, 'cache/1.tmp'))).toBe(false);
});
