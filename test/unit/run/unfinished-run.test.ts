import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { unfinishedRun } from '../../../src/run/unfinished-run.js';
import type { Event } from '../../../src/event.js';
import { processEntry } from '../../../src/process/proc-table.js';
import { tempDir } from '../../rig/temp-dir.js';

const first = '20260101-100000-aaaa';
const second = '20260101-110000-bbbb';
const third = '20260101-120000-cccc';
const request = { filters: ['cart'], passThrough: [], options: { project: ['chromium'] } };

const seen = {
  id: 't1',
  title: [],
  file: 'a.spec.ts',
  line: 1,
  project: '',
  verdict: 'failed',
  durationMs: 1,
} as const;

const totals = { exitCode: 0, durationMs: 1, agentRuns: 0, agentRunsAvoided: 0, costUsd: null, commit: null };

interface Folder {
  readonly outcome?: string;
  readonly resumedFrom?: string;
  readonly dryRun?: boolean;
  /** Whether it got to know its tests. */
  readonly knows?: boolean;
  readonly running?: object;
}

function folders(runs: Record<string, Folder>): string {
  const root = tempDir();
  for (const [runId, { outcome, resumedFrom, dryRun = false, knows = true, running }] of Object.entries(
    runs,
  )) {
    const dir = path.join(root, '.self-heal', 'runs', runId);
    mkdirSync(dir, { recursive: true });
    const started = {
      type: 'run.started',
      project: 'shop',
      runId,
      dryRun,
      playwright: '1.60.0',
      verify: 'full',
      request,
      ...(resumedFrom ? { resumedFrom } : {}),
    };
    const events: Partial<Event>[] = [
      started,
      { type: 'suite.started', purpose: 'first', tests: null, causeId: null },
    ] as Partial<Event>[];
    if (knows) events.push({ type: 'tests.seen', tests: [seen] });
    if (outcome) events.push({ type: 'run.ended', outcome, ...totals } as Partial<Event>);
    // A kill may cut a line.
    const cut = outcome ? '' : '{"type":"suite.pro';
    writeFileSync(
      path.join(dir, 'events.ndjson'),
      `${events.map((one) => JSON.stringify({ time: 0, ...one })).join('\n')}\n${cut}`,
    );
    if (running) writeFileSync(path.join(dir, 'running.json'), JSON.stringify(running));
  }
  return root;
}

async function resumed(folder: Record<string, Folder>, named: string | null = null) {
  const found = await unfinishedRun(folders(folder), named);
  return found.ok ? found.value.runId : found.error.message;
}

it('ME-8 continues the newest run that has not ended green or red, killed or not', async () => {
  expect(await resumed({ [first]: {}, [second]: {} })).toBe(second);
  expect(await resumed({ [first]: { knows: false } })).toBe(first);
  expect(await resumed({ [first]: { outcome: 'interrupted' } })).toBe(first);
  expect(await resumed({ [first]: {}, [third]: { dryRun: true } })).toBe(first);
  const runs = { [first]: { outcome: 'interrupted' }, [second]: { outcome: 'green' } };
  expect(await resumed(runs)).toContain(`${second} is finished (green)`);
  expect(await resumed(runs, first)).toBe(first);
});

it('ME-8 continues the original run if its resume was killed in the first suite', async () => {
  expect(await resumed({ [first]: {}, [second]: { resumedFrom: first, knows: false } })).toBe(first);
});

it('ME-8 continues the run that resumed another one, or says how that ended', async () => {
  expect(await resumed({ [first]: {}, [second]: { resumedFrom: first } }, first)).toBe(second);
  const green = { [first]: {}, [second]: { resumedFrom: first, outcome: 'green' } };
  const finishedMessage = `run ${second} is finished (green); there is nothing to continue`;
  expect(await resumed(green)).toBe(finishedMessage);
  expect(await resumed(green, first)).toBe(`run ${first} was continued; ${finishedMessage}`);
});

it('CL-12 has a message each for an unknown run, no run, and one that is still running', async () => {
  expect(await resumed({ [first]: {} }, '20260101-100000-aaab')).toBe(
    `there is no run 20260101-100000-aaab. Did you mean ${first}?`,
  );
  expect(await resumed({})).toBe('there is no run to continue');
  const entry = await processEntry(process.pid);
  const running = { schemaVersion: 1, pid: process.pid, startedAt: entry?.startedAt, transaction: null };
  expect(await resumed({ [first]: { running } })).toBe(
    `run ${first} is still running (process ${process.pid})`,
  );
  expect(await resumed({ [first]: { running: { ...running, startedAt: '1' } } })).toBe(first);
});
