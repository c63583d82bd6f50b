import { chmodSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/clock.js';
import { git, gitBytes, readGitError } from '../../../src/workspace/git.js';
import { findProgram, addPackageBins } from '../../../src/process/find-program.js';
import { type ProcessEntry, parsePs, addRelatives } from '../../../src/process/proc-table.js';
import { writeInto } from '../../rig/agent-workspace.js';
import { tempDir } from '../../rig/temp-dir.js';

function entry(pid: number, over: Partial<ProcessEntry> = {}): ProcessEntry {
  return {
    pid,
    parent: 1,
    group: pid,
    session: pid,
    hasTerminal: false,
    startedAt: `at ${pid}`,
    isZombie: false,
    command: 'sleep',
    ...over,
  };
}

const agent = entry(10);
const user = entry(90);

it.each([
  ['a child', entry(11, { parent: 10 })],
  ['a member of its group', entry(11, { group: 10 })],
  ['a member of its session', entry(11, { session: 10 })],
])('AG-10 %s belongs to the agent, and so does its own child, in any order', (_, relative) => {
  const child = entry(12, { parent: 11 });
  const relatives = addRelatives([agent], [child, user, relative, agent]);
  expect(relatives.map(({ pid }) => pid).toSorted((a, b) => a - b)).toEqual([10, 11, 12]);
});

it('AG-10 remembers a process that has exited, and finds others in its session', () => {
  const later = entry(12, { session: 10 });
  expect(addRelatives([agent], [user, later])).toEqual([agent, later]);
});

it('AG-10 ignores a process that reuses the pid of one that has exited', () => {
  const stranger = entry(10, { startedAt: 'later' });
  const childOfStranger = entry(12, { parent: 10 });
  expect(addRelatives([agent], [stranger, childOfStranger])).toEqual([agent]);
});

it('AG-10 reads the output of ps on macOS', () => {
  const stdout = [
    '    1     0     1 ??       Ss   Sat Nov 21 08:38:05 2026     /sbin/launchd',
    '  412     1   412 ttys001  Z+   Sun Nov 22 05:04:00 2026     (node)',
  ].join('\n');
  expect(parsePs(stdout)).toMatchObject([
    { pid: 1, parent: 0, group: 1, hasTerminal: false, isZombie: false, command: '/sbin/launchd' },
    {
      pid: 412,
      parent: 1,
      group: 412,
      hasTerminal: true,
      isZombie: true,
      startedAt: 'Sun Nov 22 05:04:00 2026',
    },
  ]);
});

it('CL-3 a program gets the PATH that npm would give it', () => {
  const cwd = path.resolve('/shop/apps/web');
  const bin = (folder: string) => path.join(path.resolve(folder), 'node_modules', '.bin');
  const before = ['/usr/bin', bin('/shop'), '/bin'];
  const { PATH, HOME } = addPackageBins({
    cwd,
    env: { PATH: before.join(path.delimiter), HOME: '/home/me' },
  });
  const added = [bin('/shop/apps/web'), bin('/shop/apps'), bin('/')];
  expect(PATH?.split(path.delimiter)).toEqual([...added, ...before]);
  expect(HOME).toBe('/home/me');
});

it('AG-1 finds a program that only the workspace has installed', async () => {
  const root = tempDir();
  const bin = path.join(root, 'node_modules', '.bin');
  await mkdir(bin, { recursive: true });
  await writeFile(path.join(bin, 'fixer.cmd'), '');
  await chmod(path.join(bin, 'fixer.cmd'), 0o755);
  const program = await findProgram('fixer.cmd', { cwd: path.join(root, 'apps/web'), env: {} });
  expect(program).toBe(path.join(bin, 'fixer.cmd'));
});

it('HN-9 the time of a run does not jump when the machine’s clock is set back or forward', () => {
  const before = systemClock.now();
  expect(Math.abs(before - Date.now())).toBeLessThan(60_000);
  const set = vi.spyOn(Date, 'now');
  for (const hours of [-1, 24]) {
    set.mockReturnValue(before + hours * 3_600_000);
    expect(systemClock.now()).toBeGreaterThanOrEqual(before);
    expect(systemClock.now()).toBeLessThan(before + 3_600_000);
  }
  set.mockRestore();
});

it('HN-9 the clock does not start late if the process is suspended while it reads the time', async () => {
  const before = Date.now();
  vi.resetModules();
  const read = vi.spyOn(Date, 'now');
  for (let n = 0; n < 5; n += 1) read.mockReturnValueOnce(before - 60_000);
  const { systemClock: clock } = await import('../../../src/clock.js');
  read.mockRestore();
  expect(clock.now()).toBeGreaterThanOrEqual(before);
});

/** Puts a program named git first on PATH. */
function fakeGit(script: string): string {
  const dir = tempDir('fake git');
  writeInto(dir, { git: `#!/bin/sh\n${script}\n` });
  chmodSync(path.join(dir, 'git'), 0o755);
  vi.stubEnv('PATH', `${dir}${path.delimiter}${process.env['PATH']}`);
  return dir;
}

it('HN-4 stops waiting for a git that hangs, and says so', async () => {
  const dir = fakeGit('exec sleep 60');
  expect(await git(dir, ['status'], { timeoutMs: 200 })).toBeNull();
  const says = await gitBytes(dir, ['status'], { timeoutMs: 200 }).catch(readGitError);
  expect(says).toMatch(/^Command timed out after 200 milliseconds/);
});

it('HN-4 forbids git to ask for a password, as the fetch of a partial clone would', async () => {
  const dir = fakeGit('echo "$GIT_TERMINAL_PROMPT"');
  expect(await git(dir, ['status'])).toBe('0\n');
});

it('HN-4 works in its folder although a hook names another repository', async () => {
  const dir = fakeGit('echo "$GIT_DIR-$GIT_CONFIG_COUNT"');
  vi.stubEnv('GIT_DIR', '/elsewhere/.git');
  vi.stubEnv('GIT_CONFIG_COUNT', '1');
  expect(await git(dir, ['status'])).toBe('-1\n');
});
