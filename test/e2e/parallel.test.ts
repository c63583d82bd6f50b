import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { readProcessTable } from '../../src/process/proc-table.js';
import { findCopies } from '../../src/workspace/copy-folder.js';
import { isLong } from '../rig/long.js';
import { agentsYaml, scratchProject, type ScratchProject, shopFiles } from '../rig/scratch-project.js';
import { isAlive } from '../rig/working-agent.js';

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

async function market(asked: readonly string[], agent: (dir: string) => string): Promise<ScratchProject> {
  const { 'tests/shop.spec.ts': _, ...files } = shopFiles;
  const project = await scratchProject({
    ...files,
    '.gitignore': `${shopFiles['.gitignore']}started\n`,
    'page.html': page,
    'agents.yaml': agentsYaml(['node', 'agent.mjs']),
    ...Object.fromEntries(asked.map((word) => [`tests/${word}.spec.ts`, wants(word)])),
  });
  await project.write({ 'agent.mjs': agent(project.dir), 'started/.keep': '' });
  return project;
}

const readsItsWord = (dir: string) => `
  import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
  import { setTimeout } from 'node:timers/promises';
  const word = /^Test:.*sells (\\w+)/m.exec(readFileSync(0, 'utf8'))[1];
  const said = ${JSON.stringify(path.join(dir, 'started'))};
  writeFileSync(said + '/' + word, String(process.pid));`;

/** Fixes its word once all the agents have started, which would wait forever if they ran one after another. */
const waitsForAll = (dir: string) => `${readsItsWord(dir)}
  while (readdirSync(said).length < ${words.length + 1}) await setTimeout(20);
  writeFileSync('page.html', readFileSync('page.html', 'utf8').replace('bad ' + word, 'good ' + word));`;

it('SC-3 --agents 3 merges patches to one file, and heals again after a conflict', async () => {
  const project = await market(words, waitsForAll);
  const { exitCode, events, report } = await project.selfHeal(['run', '--agents', '3', '--verify', 'quick']);
  expect(exitCode).toBe(0);
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

const worksOn = (dir: string) => `${readsItsWord(dir)}
  writeFileSync('page.html', 'half a fix');
  globalThis.setInterval(() => {}, 1000);`;

/** Two agents at work: their pids, and the copies in which they work. */
async function twoAtWork() {
  const project = await market(['bread', 'wine'], worksOn);
  const running = project.start(['run', '--agents', '2']);
  const pids = await vi.waitFor(
    async () => {
      const started = await Promise.all(['bread', 'wine'].map((word) => project.read(`started/${word}`)));
      expect(started.every((pid) => pid !== '')).toBe(true);
      return started.map(Number);
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
      const children = (await readProcessTable()).filter(({ parent }) => parent === running.pid);
      const watchdog = children.find(({ pid }) =>
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('self-heal-watchdog'),
      );
      process.kill(watchdog!.pid, 'SIGKILL');
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
