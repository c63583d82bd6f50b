import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { expect, it } from 'vitest';
import { runCommand } from '../../src/command/run-command.js';
import type { Command } from '../../src/command/run.js';
import type { StampedEvent } from '../../src/event.js';
import { listRunsAtWork } from '../../src/work-folder.js';
import { inlineSuite } from '../rig/inline-suite.js';

/** Runs a command in a project with Playwright, as another program does; returns how it ended and what it left. */
async function run(command: Command) {
  const { dir } = await inlineSuite({ 'playwright.config.ts': 'export default {};' });
  const events: StampedEvent[] = [];
  const host = {
    signal: new AbortController().signal,
    onEvent: (event: StampedEvent) => void events.push(event),
    onReport: () => undefined,
  };
  const request = {
    cwd: dir,
    env: process.env,
    name: 'run',
    filters: [],
    passThrough: [],
    options: {},
    host,
  };
  const ended = await runCommand(request, command).catch((error: unknown) => error);
  const runs = path.join(dir, '.self-heal', 'runs');
  return { ended, events, kept: existsSync(runs) ? readdirSync(runs) : [], atWork: listRunsAtWork(dir).size };
}

it('HN-1 a command that throws records the end of its run, moves its files, and rethrows', async () => {
  const error = new Error('the disk is full');
  const { ended, events, kept, atWork } = await run(() => Promise.reject(error));
  expect(ended).toBe(error);
  expect(events.at(-1)).toMatchObject({ type: 'run.stopped', message: 'the disk is full' });
  expect([kept.length, atWork]).toEqual([1, 0]);
});

it('CL-2 a command that fails before its first suite run leaves no run', async () => {
  const problem = { kind: 'usage', message: 'not here', remedy: 'Go there.' } as const;
  const { ended, events, kept, atWork } = await run(async () => ({ ok: false, error: problem }));
  expect(ended).toEqual(problem);
  expect(events.at(-1)).toMatchObject({ type: 'run.stopped', message: 'not here' });
  expect([kept.length, atWork]).toEqual([0, 0]);
});
