import { chmodSync } from 'node:fs';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { git, gitBytes, gitSays } from '../../../src/git/git.js';
import { writeInto } from '../../rig/agent-workspace.js';
import { tempDir } from '../../rig/temp-dir.js';

/** Puts a program named git first on PATH. */
function fakeGit(script: string): string {
  const dir = tempDir('fake git');
  writeInto(dir, { git: `#!/bin/sh\n${script}\n` });
  chmodSync(path.join(dir, 'git'), 0o755);
  vi.stubEnv('PATH', `${dir}${path.delimiter}${process.env['PATH']}`);
  return dir;
}

it('HN-4 does not wait for good for a git that does not answer, and says so', async () => {
  const dir = fakeGit('exec sleep 60');
  expect(await git(dir, ['status'], { timeoutMs: 200 })).toBeNull();
  const says = await gitBytes(dir, ['status'], { timeoutMs: 200 }).catch(gitSays);
  expect(says).toMatch(/^Command timed out after 200 milliseconds/);
});

it('HN-4 forbids git to ask for a password, as the fetch of a partial clone would', async () => {
  const dir = fakeGit('echo "$GIT_TERMINAL_PROMPT"');
  expect(await git(dir, ['status'])).toBe('0\n');
});

it('HN-4 works in the folder it is given although a hook names another repository, with the settings of the environment', async () => {
  const dir = fakeGit('echo "$GIT_DIR-$GIT_CONFIG_COUNT"');
  vi.stubEnv('GIT_DIR', '/elsewhere/.git');
  vi.stubEnv('GIT_CONFIG_COUNT', '1');
  expect(await git(dir, ['status'])).toBe('-1\n');
});
