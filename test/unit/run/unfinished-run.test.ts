import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { unfinishedRun } from '../../../src/run/unfinished-run.js';
import type { Event } from '../../../src/event.js';
import { processEntry } from '../../../src/process/proc-table.js';
import type { Store, StoredRun } from '../../../src/store/store.js';
import { tempDir } from '../../rig/temp-dir.js';

const first = '20260101-100000-aaaa';
const second = '20260101-110000-bbbb';
const third = '20260101-120000-cccc';
const request = { filters: ['cart'], passThrough: [], options: { project: ['chromium'] } };

const totals = { exitCode: 0, durationMs: 1, agentRuns: 0, agentRunsAvoided: 0, costUsd: null, commit: null };

interface Folder {
  readonly outcome?: string;
  readonly resumedFrom?: string;
  readonly dryRun?: boolean;
  readonly running?: object;
}

function folders(runs: Record<string, Folder>): string {
  const root = tempDir();
  for (const [runId, { outcome, resumedFrom, dryRun = false, running }] of Object.entries(runs)) {
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

/** A store with these runs, the newest last. */
function storeOf(...runs: (Partial<StoredRun> & { runId: string })[]): Store {
  const stored = runs.map((one) => ({
    startedAt: '',
    outcome: null,
    request,
    progress: { suiteOpen: false, tests: [] },
    continuedIn: null,
    ...one,
  }));
  return {
    run: async (runId: string | null) =>
      stored.findLast((one) => runId === null || one.runId === runId) ?? null,
  } as unknown as Store;
}

async function resumed(folder: Record<string, Folder>, store: Store | null, named: string | null = null) {
  const found = await unfinishedRun({ projectRoot: folders(folder), store }, named);
  return found.ok ? found.value : found.error.message;
}

it('ME-8 continues a run that was killed in its first suite, which the store does not know', async () => {
  expect(await resumed({ [first]: {} }, null)).toEqual({ runId: first, request, progress: null });
  const older = storeOf({ runId: first, outcome: 'interrupted' });
  expect(await resumed({ [first]: {}, [second]: {} }, older)).toMatchObject({
    runId: second,
    progress: null,
  });
  expect(await resumed({ [first]: { outcome: 'interrupted' } }, null)).toMatchObject({ runId: first });
});

it('ME-8 continues a run that was killed in its confirming run where it stopped', async () => {
  const progress = { suiteOpen: false, tests: [{ open: true }] };
  expect(await resumed({ [first]: {} }, storeOf({ runId: first, progress }))).toMatchObject({
    runId: first,
    progress,
  });
});

it('ME-8 continues the original run if its resume was killed in the first suite', async () => {
  const store = storeOf({ runId: first });
  expect(await resumed({ [first]: {}, [second]: { resumedFrom: first } }, store)).toMatchObject({
    runId: first,
    progress: { tests: [] },
  });
});

it('ME-8 continues the run that resumed another one, or says how that ended', async () => {
  const runs = [{ runId: first, continuedIn: second }, { runId: second }] as const;
  const folder = { [first]: {}, [second]: { resumedFrom: first } };
  expect(await resumed(folder, storeOf(...runs), first)).toMatchObject({ runId: second });
  const green = storeOf(runs[0], { runId: second, outcome: 'green' });
  const finishedMessage = `run ${second} is finished (green); there is nothing to continue`;
  expect(await resumed(folder, green)).toBe(finishedMessage);
  expect(await resumed(folder, green, first)).toBe(`run ${first} was continued; ${finishedMessage}`);
});

it('ME-8 counts a later green run, which is not in the store, as the newest', async () => {
  const store = storeOf({ runId: first, outcome: 'interrupted' });
  const folder = { [first]: {}, [second]: { outcome: 'green' } };
  expect(await resumed(folder, store)).toContain(`${second} is finished (green)`);
  expect(await resumed(folder, store, first)).toMatchObject({ runId: first });
});

it('ME-8 does not continue a dry run', async () => {
  const store = storeOf({ runId: first });
  expect(await resumed({ [first]: {}, [third]: { dryRun: true } }, store)).toMatchObject({ runId: first });
});

it('ME-8 finds a run of another machine, which is only in the store', async () => {
  const store = storeOf({ runId: first }, { runId: third });
  expect(await resumed({ [first]: {}, [second]: { outcome: 'green' } }, store)).toMatchObject({
    runId: third,
  });
});

it('CL-12 has a message each for an unknown run, no run, and one that is still running', async () => {
  expect(await resumed({ [first]: {} }, null, '20260101-100000-aaab')).toBe(
    `there is no run 20260101-100000-aaab. Did you mean ${first}?`,
  );
  expect(await resumed({}, null)).toBe('there is no run to continue');
  const entry = await processEntry(process.pid);
  const running = { schemaVersion: 1, pid: process.pid, startedAt: entry?.startedAt, transaction: null };
  expect(await resumed({ [first]: { running } }, null)).toBe(
    `run ${first} is still running (process ${process.pid})`,
  );
  expect(await resumed({ [first]: { running: { ...running, startedAt: '1' } } }, null)).toMatchObject({
    runId: first,
  });
});
