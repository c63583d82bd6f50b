import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { loadSettings } from '../../../src/config/load-settings.js';
import { checkReviewer } from '../../../src/doctor/check-programs.js';
import { tempDir } from '../../rig/temp-dir.js';

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
