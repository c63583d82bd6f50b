import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { writeWork } from '../../../src/heal/attempt/start-agent.js';
import { aCause, aDiagnosed, anEvidence, someSettings } from '../../rig/builders.js';
import { healingSession } from '../../rig/healing-session.js';

const entry = { time: 0, type: 'error', text: 'no such order', location: '', stack: null };
const lead = aDiagnosed({
  n: 7,
  evidence: anEvidence({ console: [entry], serverOutput: 'GET /orders 500' }),
});

it('SC-1 AG-2 writes the evidence of a failure that a shard collected for the agent, and keeps existing files', async () => {
  const { session } = await healingSession([]);
  const folder = await session.folder.failure(7);
  await writeFile(path.join(folder, 'server.log'), 'as it was gathered here');
  const request = { cause: aCause({ lead }), agent: 'debugger', n: 1, previous: [] };
  await writeWork(session, request);
  expect((await readdir(folder)).toSorted()).toEqual([
    'console.log',
    'context.json',
    'prompt.md',
    'server.log',
  ]);
  expect(await readFile(path.join(folder, 'console.log'), 'utf8')).toContain('no such order');
  expect(await readFile(path.join(folder, 'server.log'), 'utf8')).toBe('as it was gathered here');
});

it('CL-7 BF-1 writes a prompt to paste, without a slash command, if no agent program is set up', async () => {
  const { agents } = someSettings();
  const own = Object.entries(agents).map(
    ([name, agent]) => [name, { ...agent, runner: 'built-in' }] as const,
  );
  const { session } = await healingSession([], {
    settings: someSettings({ agents: Object.fromEntries(own) }),
  });
  const request = { cause: aCause({ lead }), agent: 'debugger', n: 1, previous: [] };
  const { prompt } = await writeWork(session, request);
  expect(prompt).toMatch(/^Fix this error so the test can pass/);
});
