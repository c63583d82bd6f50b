import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { loadSettings } from '../../../src/config/load-settings.js';
import { checkReviewer } from '../../../src/doctor/check-programs.js';
import { checkGit } from '../../../src/doctor/examine.js';
import { tempDir } from '../../rig/temp-dir.js';

it.runIf(process.platform !== 'win32').each([
  ['2.30.2', 'warning'],
  ['2.31.0', 'ok'],
  ['2.39.5 (Apple Git-154)', 'ok'],
])('CL-11 BL-1 blame needs git 2.31: %s gives %s', async (version, state) => {
  const dir = tempDir();
  const file = path.join(dir, 'git');
  writeFileSync(file, `#!/bin/sh\necho git version ${version.replaceAll(/[()]/g, '')}\n`);
  chmodSync(file, 0o755);
  const [check] = await checkGit({
    cwd: dir,
    env: { ...process.env, PATH: `${dir}:${process.env['PATH']}` },
  });
  expect(check).toMatchObject({ state, name: 'git' });
});

it.runIf(process.platform !== 'win32')(
  'CL-11 git refuses a repository that belongs to another user',
  async () => {
    const dir = tempDir();
    mkdirSync(path.join(dir, '.git'));
    const file = path.join(dir, 'git');
    const refusal = 'fatal: detected dubious ownership in repository';
    writeFileSync(
      file,
      `#!/bin/sh\n[ "$1" = --version ] && echo git version 2.40.0 || { echo '${refusal}' >&2; exit 128; }\n`,
    );
    chmodSync(file, 0o755);
    const [, check] = await checkGit({
      cwd: dir,
      env: { ...process.env, PATH: `${dir}:${process.env['PATH']}` },
    });
    expect(check).toMatchObject({ state: 'warning', name: 'ignore entry' });
    expect(JSON.stringify(check)).toContain('dubious ownership');
  },
);

it.each([
  ['the fixers’ program', 'verify: { review: review-fix }', ['claude would judge its own fixes']],
  ['another one', 'agents: { review-fix: { runner: codex } }\nverify: { review: review-fix }', []],
  ['nobody', '', []],
])('HN-11 doctor says once if whoever gives the second opinion is %s', async (_, yaml, found) => {
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'agents.yaml'), `version: 1\nrunner: claude\n${yaml}\n`);
  const loaded = await loadSettings({ cwd, env: {} });
  if (!loaded.ok) throw new Error(loaded.error.message);
  expect(checkReviewer(loaded.value).map((one) => one.found)).toEqual(found);
});
