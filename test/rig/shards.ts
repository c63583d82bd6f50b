import path from 'node:path';
import {
  agentsYaml,
  editingAgent,
  projectIn,
  type ScratchProject,
  scratchProject,
} from './scratch-project.js';
import { commitFolder, gitIn } from './git-repository.js';
import { linkPackages } from './link-packages.js';
import { tempDir } from './temp-dir.js';

/** Two causes in six tests of three files; none needs a browser. */
export const shardedSuite: Record<string, string> = {
  'package.json': '{ "name": "scratch" }',
  '.gitignore': 'node_modules\ntest-results\n.self-heal\nblob-report\nagent.started\n',
  'playwright.config.ts': `
    import { defineConfig } from '@playwright/test';
    export default defineConfig({ testDir: 'tests', workers: 1, fullyParallel: true, reporter: [['list']] });`,
  'cart.mjs': `
    export const total = () => {
      return cart.item.id;
    };
    const cart = { items: [{ id: 1 }] };`,
  'shop.mjs': "export const name = 'Tanks';\n",
  ...Object.fromEntries(
    ['a', 'b', 'c'].map((file) => [
      `tests/${file}.spec.ts`,
      `
      import { test, expect } from '@playwright/test';
      import { total } from '../cart.mjs';
      import { name } from '../shop.mjs';
      test('${file} adds', () => { expect(total()).toBe(1); });
      test('${file} is named', () => { expect(name === 'Thanks').toBe(true); });
      test('${file} is there', () => {});`,
    ]),
  ),
  'fixer.mjs': editingAgent([
    ['cart.mjs', 'cart.item.id', 'cart.items[0].id'],
    ['shop.mjs', 'Tanks', 'Thanks'],
  ]),
  'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
};

/** Commits these files to a new repository; each `machine` is a separate clone of it. */
export async function createRepository(files: Record<string, string>) {
  const origin = await scratchProject(files, tempDir('origin'));
  commitFolder(origin.dir, 'one');
  return {
    machine: async (name: string): Promise<ScratchProject> => {
      const dir = path.join(tempDir(name), 'work');
      gitIn(origin.dir)('clone', '-q', origin.dir, dir);
      await linkPackages(dir);
      return projectIn(dir);
    },
  };
}
