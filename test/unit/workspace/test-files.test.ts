import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { filesOfTests } from '../../../src/guard/change.js';
import { folderTree } from '../../../src/workspace/tree.js';
import { tempDir } from '../../rig/temp-dir.js';

async function found(specs: readonly string[], files: Readonly<Record<string, string>>): Promise<string[]> {
  const root = tempDir();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  return (await filesOfTests(folderTree(root), specs)).toSorted();
}

it('HN-4 follows what specs and the config import, and what they name: modules, set-ups, data', async () => {
  const files = {
    'playwright.config.ts':
      "import { retries } from './shared/settings';\nexport default { retries, globalSetup: './setup/global' };",
    'shared/settings.ts': 'export const retries = 0;',
    'setup/global.ts': "import { seed } from '../lib/seed.js';\nexport default seed;",
    'lib/seed.ts': "export const seed = () => readFileSync('seed/read.json');",
    'tests/a.spec.ts':
      "import { pay } from './pages/pay';\nreadFile(new URL('../seed/url.json', import.meta.url)); expect(1).toMatchSnapshot('total.txt');",
    'tests/pages/pay.ts': "export const pay = join(__dirname, 'fixtures', 'users.csv');",
    'seed/read.json': '1',
    'seed/url.json': '2',
    'visual/total.txt': '12',
    'tests/pages/fixtures/users.csv': 'ann',
  };
  const other = { 'src/app.ts': "import './other.json';", 'src/other.json': '{}', 'seed/never.json': '3' };
  const specs = ['tests/a.spec.ts', 'playwright.config.ts'];
  expect(await found(specs, { ...files, ...other })).toEqual(Object.keys(files).toSorted());
});

it('HN-4 does not guess where several files have the name that a test puts together', async () => {
  const files = { 'a.spec.ts': "read(folder + '/users.json');", 'a/users.json': '', 'b/users.json': '' };
  expect(await found(['a.spec.ts', 'gone.spec.ts'], files)).toEqual(['a.spec.ts']);
});
