import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished, vi } from 'vitest';
import { runPlaywright } from '../../../src/playwright/playwright-process.js';
import { tempDir } from '../../rig/temp-dir.js';

it('CS-10 reports how Playwright ended although a server of its group belongs to another user (sudo)', async () => {
  const cwd = tempDir();
  const cli = path.join(cwd, 'cli.js');
  writeFileSync(cli, 'process.exitCode = 7;');
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
  });
  onTestFinished(() => kill.mockRestore());
  const ended = await runPlaywright({
    cli,
    args: [],
    cwd,
    env: { PATH: process.env['PATH'] },
    runId: 'run',
    stdout: new PassThrough().resume(),
    stderr: new PassThrough().resume(),
    signal: new AbortController().signal,
    graceMs: 1000,
  });
  expect(ended).toEqual({ exitCode: 7, stderr: '' });
});
