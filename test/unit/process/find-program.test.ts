import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { findProgram, withPackageBins } from '../../../src/process/find-program.js';
import { tempDir } from '../../rig/temp-dir.js';

it('CL-3 a program gets the PATH that npm would give it: the bins of its package, then of the workspace around it', () => {
  const cwd = path.resolve('/shop/apps/web');
  const bin = (folder: string) => path.join(path.resolve(folder), 'node_modules', '.bin');
  const before = ['/usr/bin', bin('/shop'), '/bin'];
  const { PATH, HOME } = withPackageBins({
    cwd,
    env: { PATH: before.join(path.delimiter), HOME: '/home/me' },
  });
  const added = [bin('/shop/apps/web'), bin('/shop/apps'), bin('/')];
  expect(PATH?.split(path.delimiter)).toEqual([...added, ...before]);
  expect(HOME).toBe('/home/me');
});

it('CL-3 keeps the name that Windows gives to PATH', () => {
  expect(Object.keys(withPackageBins({ cwd: '/', env: { Path: 'C:\\Windows' } }))).toEqual(['Path']);
});

it('AG-1 finds a program that only the workspace has installed', async () => {
  const root = tempDir();
  const bin = path.join(root, 'node_modules', '.bin');
  await mkdir(bin, { recursive: true });
  await writeFile(path.join(bin, 'fixer.cmd'), '');
  await chmod(path.join(bin, 'fixer.cmd'), 0o755);
  const found = await findProgram('fixer.cmd', { cwd: path.join(root, 'apps/web'), env: {} });
  expect(found).toBe(path.join(bin, 'fixer.cmd'));
});
