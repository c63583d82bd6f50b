import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { findCopies } from '../../src/workspace/copy-folder.js';
import { freePort } from '../rig/free-port.js';
import { isLong } from '../rig/long.js';
import { agentsYaml, scratchProject, shopFiles } from '../rig/scratch-project.js';
import { tempDir } from '../rig/temp-dir.js';
import { isAlive, killWatchdog } from '../rig/working-agent.js';

/** A test that looks for one word of the page, so that each word is a cause of its own. */
const wants = (word: string) => `
  import { test, expect } from '@playwright/test';
  import { readFileSync } from 'node:fs';
  test('sells ${word}', () => {
    expect(readFileSync('page.html', 'utf8').includes('good ${word}'), 'the page sells ${word}').toBe(true);
  });`;

const words = ['bread', 'cheese', 'pears'] as const;

/** Bread and wine are far apart; cheese and pears are on one line. */
const page = `bad bread\n\n\n\n\nbad wine\n\n\n\n\nbad cheese, bad pears\n`;

/** A market whose agents write a file each into a folder outside of it when they start. */
async function market(
  asked: readonly string[],
  agent: (started: string) => string,
  more: Record<string, string> = {},
) {
  const { 'tests/shop.spec.ts': _, ...files } = shopFiles;
  const started = tempDir('started');
  const project = await scratchProject({
    ...files,
    'page.html': page,
    'agents.yaml': agentsYaml(['node', 'agent.mjs']),
    'agent.mjs': agent(started),
    ...Object.fromEntries(asked.map((word) => [`tests/${word}.spec.ts`, wants(word)])),
    ...more,
  });
  return { project, started };
}

const readsItsWord = (started: string) => `
  import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
  import { dirname } from 'node:path';
  import { setTimeout } from 'node:timers/promises';
  const prompt = readFileSync(0, 'utf8');
  const word = /^Test:.*sells (\\w+)/m.exec(prompt)[1];
  const started = ${JSON.stringify(started)};
  writeFileSync(started + '/' + word, String(process.pid));`;

/** Fixes its word once all the agents have started, which would wait forever if they ran one after another. */
const waitsForAll = (started: string) => `${readsItsWord(started)}
  if (!prompt.includes(dirname(process.env.SELF_HEAL_CONTEXT))) process.exit(1);
  while (readdirSync(started).length < ${words.length}) await setTimeout(20);
  writeFileSync('page.html', readFileSync('page.html', 'utf8').replace('bad ' + word, 'good ' + word));`;

/** A web server that writes down which files of the project change while a suite runs. */
const watchful = (port: number, written: string) => ({
  'playwright.config.ts': shopFiles['playwright.config.ts'].replace(
    'workers: 1,',
    `workers: 1, webServer: { command: 'node server.mjs', url: 'http://127.0.0.1:${port}/' },`,
  ),
  'server.mjs': `
    import { appendFileSync, watch } from 'node:fs';
    import { createServer } from 'node:http';
    watch('.', { recursive: true }, (_, file) => {
      if (!/^(?:test-results|node_modules)(?:\\/|$)/.test(file)) appendFileSync(${JSON.stringify(written)}, file + '\\n');
    });
    createServer((_, response) => response.end('ok')).listen(${port}, '127.0.0.1');`,
});

it('SC-3 CL-3 AG-2 --agents 3 merges patches, retries after conflicts, writes nothing while a suite runs', async () => {
  const written = path.join(tempDir('written'), 'names');
  const { project } = await market(words, waitsForAll, watchful(await freePort(), written));
  const { exitCode, events, report, stderr } = await project.selfHeal([
    'run',
    '--agents',
    '3',
    '--verify',
    'quick',
  ]);
  expect(exitCode, stderr).toBe(0);
  expect(existsSync(written) ? readFileSync(written, 'utf8') : '').toBe('');
  // While the agent worked, the evidence that its prompt names was elsewhere.
  const evidence = path.join(
    project.dir,
    `.self-heal/runs/${report?.runId}`,
    report?.causes[0]?.evidence ?? '',
  );
  expect(readFileSync(path.join(evidence, 'prompt.md'), 'utf8')).toContain(evidence);
  const agents = events.filter(({ type }) => type === 'agent.started' || type === 'agent.ended');
  expect(agents.slice(0, 4).map(({ type }) => type)).toEqual([
    ...words.map(() => 'agent.started'),
    'agent.ended',
  ]);
  expect(await project.read('page.html')).toBe(
    page.replaceAll('bad', 'good').replace('good wine', 'bad wine'),
  );
  expect(report?.causes.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual([
    'c1 healed',
    'c2 healed',
    'c3 healed',
  ]);
  const judged = report?.causes.map(({ attempts }) => attempts.map((one) => one.end.kind).join()) ?? [];
  expect(judged.toSorted()).toEqual(['conflict,green', 'green', 'green']);
  expect(report?.totals.agentRuns).toBe(4);
});

const worksOn = (started: string) => `${readsItsWord(started)}
  writeFileSync('page.html', 'half a fix');
  globalThis.setInterval(() => {}, 1000);`;

/** Two agents at work: their pids, and the copies in which they work. */
async function twoAtWork() {
  const { project, started } = await market(['bread', 'wine'], worksOn);
  const running = project.start(['run', '--agents', '2']);
  const pids = await vi.waitFor(
    () => {
      const all = ['bread', 'wine'].map((word) => readFileSync(path.join(started, word), 'utf8'));
      expect(all).not.toContain('');
      return all.map(Number);
    },
    { timeout: 120_000, interval: 50 },
  );
  const copies = await findCopies(project.dir);
  expect(pids.map(isAlive)).toEqual([true, true]);
  expect(copies.map((copy) => existsSync(copy))).toEqual([true, true]);
  return { project, running, pids, copies };
}

const ends = [
  ['SIGTERM', 'self-heal'],
  ['SIGKILL', 'the watchdog'],
  ['SIGKILL', 'the next command, without a watchdog,'],
] as const;

it.runIf(isLong && process.platform === 'linux').each(ends)(
  'SC-3 AG-10 HN-2 CL-5 after %s, %s ends all agents and leaves no copy',
  async (signal, who) => {
    const { project, running, pids, copies } = await twoAtWork();
    const isUnwatched = who.startsWith('the next command');
    if (isUnwatched) {
      await killWatchdog(running.pid);
    }
    running.kill(signal);
    const { exitCode } = await running;
    if (signal === 'SIGTERM') expect(exitCode).toBe(143);
    if (isUnwatched) {
      expect(pids.map(isAlive)).toEqual([true, true]);
      await project.selfHeal(['undo', '--yes']);
    }
    await vi.waitFor(
      () => {
        expect(pids.map(isAlive)).toEqual([false, false]);
        expect(copies.map((copy) => existsSync(copy))).toEqual([false, false]);
      },
      { timeout: signal === 'SIGTERM' || isUnwatched ? 0 : 60_000, interval: 50 },
    );
    expect(await project.read('page.html')).toBe(page);
  },
);
