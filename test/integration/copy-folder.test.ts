import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeCopyFolder, removeCopy } from '../../src/workspace/copy-folder.js';
import { tempDir } from '../rig/temp-dir.js';

/** Makes the folder of a project's copy, as a run does; `announced` are the folders that recovery from a kill would look at. */
async function made(project: string, root = project) {
  const announced: { folder: string; wasThere: boolean }[] = [];
  const announce = (folder: string) => void announced.push({ folder, wasThere: existsSync(folder) });
  const folder = await makeCopyFolder({ project, root, announce });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, announced };
}

describe('the folder of a copy', () => {
  it('HN-2 is announced before it exists, so that no kill can leave it behind', async () => {
    const { folder, announced } = await made(tempDir());
    expect(announced).toEqual([{ folder, wasThere: false }]);
  });

  it('HN-2 is reused or removed however a kill left it, with or without its mark', async () => {
    const project = tempDir();
    const { folder } = await made(project);
    const [mark = ''] = readdirSync(folder);
    await removeCopy(folder);
    expect(existsSync(folder)).toBe(false);
    mkdirSync(folder);
    expect((await made(project)).folder).toBe(folder);
    writeFileSync(path.join(folder, 'base'), '');
    expect((await made(project)).folder).toBe(folder);
    expect(readdirSync(folder)).toEqual([mark]);
    rmSync(path.join(folder, mark), { recursive: true });
    await removeCopy(folder);
    expect(existsSync(folder)).toBe(false);
  });

  it('HN-2 may be removed by the watchdog and the next command at the same time', async () => {
    const { folder } = await made(tempDir());
    for (let file = 0; file < 200; file += 1) writeFileSync(path.join(folder, `${file}.txt`), '');
    await Promise.all([removeCopy(folder), removeCopy(folder), removeCopy(folder)]);
    expect(existsSync(folder)).toBe(false);
  });

  it('HN-1 gets another name if a folder of that name is not self-heal’s, which stays', async () => {
    const project = tempDir();
    const { folder } = await made(project);
    await removeCopy(folder);
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'mine.txt'), '');
    const other = await made(project);
    expect(other.folder).not.toBe(folder);
    expect(other.announced.at(-1)?.folder).toBe(other.folder);
    await removeCopy(folder);
    expect(readdirSync(folder)).toEqual(['mine.txt']);
  });

  it('HN-1 differs for each package of a repository, since runs may work in them at the same time', async () => {
    const root = tempDir();
    const first = await made(path.join(root, 'packages/a'), root);
    const second = await made(path.join(root, 'packages/b'), root);
    expect(second.folder).not.toBe(first.folder);
    expect(existsSync(first.folder)).toBe(true);
  });
});
