import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { findPlaywrightConfig } from '../../src/playwright/find-config.js';
import { findPlaywright } from '../../src/playwright/find-playwright.js';
import { toPlaywrightArgs } from '../../src/playwright/selection.js';
import { writeInto } from '../rig/agent-workspace.js';
import { tempDir } from '../rig/temp-dir.js';

async function project(files: Record<string, string>): Promise<string> {
  const dir = tempDir();
  writeInto(dir, files);
  return dir;
}

const manifest = (version: string): string => JSON.stringify({ version });

it('CL-2 finds the Playwright of the project, even through a link', async () => {
  const dir = await project({ 'store/test/package.json': manifest('1.57.0') });
  await mkdir(path.join(dir, 'node_modules/@playwright'), { recursive: true });
  await symlink(path.join(dir, 'store/test'), path.join(dir, 'node_modules/@playwright/test'), 'junction');
  await mkdir(path.join(dir, 'packages/web'), { recursive: true });
  const packageDir = path.join(dir, 'store/test');
  expect(findPlaywright(path.join(dir, 'packages/web'))).toEqual({
    ok: true,
    value: { version: '1.57.0', packageDir, cli: path.join(packageDir, 'cli.js') },
  });
});

it('CL-2 prefers the Playwright that the config would import, and falls back to `playwright`', async () => {
  const dir = await project({
    'node_modules/@playwright/test/package.json': manifest('1.50.0'),
    'e2e/node_modules/@playwright/test/package.json': manifest('1.65.1'),
    'other/node_modules/playwright/package.json': manifest('1.66.0-alpha-2026'),
  });
  expect(findPlaywright(dir, path.join(dir, 'e2e/playwright.config.ts'))).toMatchObject({
    value: { version: '1.65.1' },
  });
  expect(findPlaywright(dir)).toMatchObject({ value: { version: '1.50.0' } });
  const alone = await project({ 'node_modules/playwright/package.json': manifest('2.0.0') });
  expect(findPlaywright(alone)).toMatchObject({ ok: true, value: { version: '2.0.0' } });
});

it.each([
  ['package-lock.json', 'npm install --save-dev @playwright/test'],
  ['pnpm-lock.yaml', 'pnpm add --save-dev @playwright/test'],
  ['yarn.lock', 'yarn add --dev @playwright/test'],
  ['bun.lock', 'bun add --dev @playwright/test'],
])('CL-2 says how to install a missing Playwright beside %s', async (lockFile, command) => {
  const dir = await project({ [lockFile]: '', 'packages/web/package.json': '{}' });
  expect(findPlaywright(path.join(dir, 'packages/web'))).toMatchObject({
    ok: false,
    error: { kind: 'playwright-missing', remedy: expect.stringContaining(`\`${command}\``) },
  });
});

it('CL-2 does not call Playwright missing if the project’s package.json cannot be read', async () => {
  const dir = await project({ 'package.json': '{"name": "x",}' });
  expect(findPlaywright(dir)).toMatchObject({
    ok: false,
    error: {
      message: expect.stringContaining('cannot resolve'),
      detail: expect.stringContaining(path.join(dir, 'package.json')),
    },
  });
});

it('CL-2 refuses a version that is too old', async () => {
  const dir = await project({ 'node_modules/@playwright/test/package.json': manifest('1.49.1') });
  expect(findPlaywright(dir)).toMatchObject({
    ok: false,
    error: { kind: 'playwright-unsupported', message: expect.stringContaining('1.49.1') },
  });
});

it('CL-2 finds the config in the folder, or in the folder or file that -c names', async () => {
  const dir = await project({ 'playwright.config.mjs': '', 'e2e/playwright.config.ts': '', 'ci.ts': '' });
  expect(findPlaywrightConfig(dir)).toEqual({ ok: true, value: path.join(dir, 'playwright.config.mjs') });
  const inFolder = { ok: true, value: path.join(dir, 'e2e/playwright.config.ts') };
  expect(findPlaywrightConfig(dir, 'e2e')).toEqual(inFolder);
  expect(findPlaywrightConfig(dir, './ci.ts')).toEqual({ ok: true, value: path.join(dir, 'ci.ts') });
  expect(findPlaywrightConfig(dir, 'gone.ts')).toMatchObject({
    ok: false,
    error: { kind: 'playwright-config-missing', message: expect.stringContaining('gone.ts') },
  });
});

it("CL-1 renders the selection as Playwright's flags, and keeps for re-runs those that say how tests run", () => {
  const selection = {
    config: 'e2e',
    grep: 'pays|ships',
    grepInvert: '@slow',
    project: ['chromium', 'set up'],
    shard: '1/3',
    workers: '50%',
    repeatEach: 2,
    retries: 0,
    timeout: 0,
    lastFailed: true,
    onlyChanged: 'main',
    x: true,
    maxFailures: 3,
    headed: true,
    filters: ['cart'],
    passThrough: ['--tsconfig', 'x.json'],
  };
  const how =
    '--config=e2e --project=chromium --project=set up --workers=50% --repeat-each=2 --timeout=0 --headed';
  const which = '--grep=pays|ships --grep-invert=@slow --shard=1/3 --only-changed=main';
  const { first, rerun, byId } = toPlaywrightArgs(selection);
  expect(first.join(' ')).toBe(
    `${how} ${which} --retries=0 --max-failures=3 -x --last-failed cart --tsconfig x.json`,
  );
  expect(rerun.join(' ')).toBe(`${how} ${which} cart --tsconfig x.json`);
  expect(byId.join(' ')).toBe(`${how} --tsconfig x.json`);
  expect(toPlaywrightArgs({ onlyChanged: true }).first).toEqual(['--only-changed']);
  expect(toPlaywrightArgs({})).toEqual({ first: [], rerun: [], byId: [] });
});
