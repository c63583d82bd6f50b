import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createGuard } from '../../src/guard/create-guard.js';
import { judge } from '../../src/guard/judge.js';
import { openWorkspace, type Workspace } from '../../src/workspace/workspace.js';
import { aResult, aSuiteRun, aTest } from '../rig/builders.js';
import { tempDir } from '../rig/temp-dir.js';

let dir: string;
let workspace: Workspace;

const file = (name: string) => path.join(dir, name);
const write = (files: Readonly<Record<string, string>>) => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(file(name)), { recursive: true });
    writeFileSync(file(name), text);
  }
};
const compared = 'module.exports.expect = (value) => compare(value);\n';

/** What the guard says of an edit, and which files it sees; the edit is taken back. */
async function judged(edit: () => void) {
  const before = await workspace.checkpoint();
  edit();
  const after = await workspace.checkpoint();
  const files = await workspace.changes(before, after);
  const location = { file: file('tests/a.spec.ts'), line: 1, column: 1 };
  const first = aSuiteRun({
    tests: [{ ...aResult('t1'), test: aTest('t1', { location }) }],
    rootDir: file('tests'),
  });
  const guard = createGuard(workspace, first, judge);
  const { violations } = await guard({ category: 'runtime-error', files, before, after });
  await workspace.takeBack(before, after);
  return { seen: files.map((one) => one.path), rules: violations.map((one) => `${one.rule} ${one.file}`) };
}

beforeEach(async () => {
  dir = tempDir();
  execFileSync('git', ['init', '-q'], { cwd: dir });
  write({
    '.gitignore': 'node_modules\ndist\n.auth\n*.gen.ts\n!kept.gen.ts\n',
    'tests/a.spec.ts': "import { test } from '@playwright/test';\ntest('a', () => {});\n",
    'node_modules/@playwright/test/index.js': compared,
    'node_modules/playwright/lib/expect.js': compared,
    'node_modules/zod/index.js': 'z\n',
    'dist/app.js': 'old\n',
    '.auth/state.json': '{}\n',
  });
  const opened = await openWorkspace(dir);
  if (!opened) throw new Error('There is no git program.');
  workspace = opened;
});

describe('HN-3 files that an agent hides from git are seen', () => {
  const spec = { 'tests/b.spec.ts': "import { test } from '@playwright/test';\ntest.only('b', () => {});\n" };

  it.each([
    ['by a rule of its own', '.gitignore', 'node_modules\ndist\n.auth\n*.gen.ts\n!kept.gen.ts\nb.spec.ts\n'],
    ['by a whole folder', '.gitignore', 'node_modules\ndist\n.auth\n*.gen.ts\n!kept.gen.ts\ntests/*\n'],
    ['by another ignore file', 'tests/.gitignore', '*.spec.ts\n.gitignore\n'],
  ])('%s', async (_, ignoreFile, rules) => {
    const { seen, rules: broken } = await judged(() => write({ ...spec, [ignoreFile]: rules }));
    expect(seen).toContain('tests/b.spec.ts');
    expect(broken).toContain('test-modifier tests/b.spec.ts');
    expect(existsSync(file('tests/b.spec.ts'))).toBe(false);
  });

  it('by removing an exception from a rule', async () => {
    const rules = 'node_modules\ndist\n.auth\n*.gen.ts\n';
    const { seen } = await judged(() => write({ '.gitignore': rules, 'src/kept.gen.ts': 'x\n' }));
    expect(seen).toEqual(['.gitignore', 'src/kept.gen.ts']);
  });

  it('by the user’s own exclude file, which says nothing to self-heal', async () => {
    const { seen } = await judged(() => write({ ...spec, '.git/info/exclude': 'tests\n' }));
    expect(seen).toEqual(['tests/b.spec.ts']);
  });

  it('and what the project ignored before stays out', async () => {
    const { seen } = await judged(() =>
      write({
        '.gitignore': 'node_modules\ndist\n.auth\n*.gen.ts\n!kept.gen.ts\n*.tmp\n',
        'dist/app.js': 'new\n',
      }),
    );
    expect(seen).toEqual(['.gitignore']);
  });
});

describe('HN-3 Playwright itself is out of reach', () => {
  it('an edit of its packages is a violation, and taken back', async () => {
    const { rules } = await judged(() =>
      write({
        'node_modules/@playwright/test/index.js': 'module.exports.expect = () => true;\n',
        'node_modules/playwright/lib/expect.js': '\n',
      }),
    );
    expect(rules).toEqual([
      'protected-file node_modules/@playwright/test/index.js',
      'protected-file node_modules/playwright/lib/expect.js',
    ]);
    expect(readFileSync(file('node_modules/@playwright/test/index.js'), 'utf8')).toBe(compared);
    expect(readFileSync(file('node_modules/playwright/lib/expect.js'), 'utf8')).toBe(compared);
  });

  it('another one beside the tests is seen, and taken away', async () => {
    const own = { 'tests/node_modules/@playwright/test/index.js': 'module.exports.expect = () => true;\n' };
    const { rules } = await judged(() => write(own));
    expect(rules).toContain('protected-file tests/node_modules/@playwright/test/index.js');
    expect(existsSync(file('tests/node_modules'))).toBe(false);
  });

  it('where pnpm links to it, the link and what it leads to', async () => {
    rmSync(file('node_modules/@playwright/test'), { recursive: true });
    write({ 'node_modules/.pnpm/t@1/node_modules/@playwright/test/index.js': compared });
    write({ 'node_modules/.pnpm/t@1/node_modules/playwright-core/lib/page.js': compared });
    const link = '../.pnpm/t@1/node_modules/@playwright/test';
    symlinkSync(link, file('node_modules/@playwright/test'));
    const { rules } = await judged(() => {
      write({ 'node_modules/.pnpm/t@1/node_modules/playwright-core/lib/page.js': '\n' });
      rmSync(file('node_modules/@playwright/test'));
      write({ 'node_modules/@playwright/test/index.js': 'module.exports.expect = () => true;\n' });
    });
    expect(rules).toContain('protected-file node_modules/.pnpm/t@1/node_modules/playwright-core/lib/page.js');
    expect(rules).toContain('protected-file node_modules/@playwright/test/index.js');
    expect(readlinkSync(file('node_modules/@playwright/test'))).toBe(link);
    expect(
      readFileSync(file('node_modules/.pnpm/t@1/node_modules/playwright-core/lib/page.js'), 'utf8'),
    ).toBe(judge);
  });
});

it('HN-1 names what was written where no checkpoint looks: packages and state, whatever time it is given', async () => {
  await workspace.checkpoint();
  write({ 'node_modules/zod/index.js': 'patched\n', '.auth/state.json': '{ "admin": true }\n' });
  const long = new Date(0);
  utimesSync(file('node_modules/zod/index.js'), long, long);
  write({ 'dist/app.js': 'built\n', 'node_modules/.cache/x': 'x\n', 'src/a.ts': 'x\n' });
  expect(await workspace.strayChanges?.()).toEqual(['.auth/state.json', 'node_modules/zod/index.js']);
  await workspace.checkpoint();
  expect(await workspace.strayChanges?.()).toEqual([]);
});
