import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { unfinishedRun } from '../../../src/run/unfinished-run.js';
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
    const events: object[] = [
      started,
      { type: 'suite.started', purpose: 'first', tests: null, causeId: null },
    ];
    if (outcome) events.push({ type: 'run.ended', outcome, ...totals });
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

type Stored = Partial<StoredRun> & { readonly runId: string };

/** A store with these runs, the newest last. */
function storeOf(runs: readonly Stored[]): Pick<Store, 'run'> {
  const empty = { startedAt: '', outcome: null, request, continuedIn: null };
  const stored = runs.map((one) => ({ ...empty, progress: { suiteOpen: false, tests: [] }, ...one }));
  return {
    run: async (runId) => stored.findLast((one) => runId === null || one.runId === runId) ?? null,
  };
}

async function resumed(
  folder: Record<string, Folder>,
  stored: readonly Stored[] | null,
  named: string | null = null,
) {
  const earlier = { projectRoot: folders(folder), store: stored && storeOf(stored) };
  const found = await unfinishedRun(earlier, named);
  return found.ok ? found.value : found.error.message;
}

const stopped = { suiteOpen: false, tests: [{ open: true }] };
const one = { [first]: {} };
const two = { [first]: {}, [second]: { resumedFrom: first } };
const green = { [first]: {}, [second]: { outcome: 'green' } };
const interrupted = [{ runId: first, outcome: 'interrupted' }];
const known = [{ runId: first }];
const chain = [{ runId: first, continuedIn: second }, { runId: second }];
const ended = [
  { runId: first, continuedIn: second },
  { runId: second, outcome: 'green' },
];
const finished = `run ${second} is finished (green); there is nothing to continue`;

it.each<[string, Record<string, Folder>, Stored[] | null, string | null, unknown]>([
  ['killed in its first suite', one, null, null, { runId: first, request, progress: null }],
  ['newer than the store', { ...one, [second]: {} }, interrupted, null, { runId: second, progress: null }],
  ['interrupted', { [first]: { outcome: 'interrupted' } }, null, null, { runId: first }],
  ['killed in its confirming run', one, [{ runId: first, progress: stopped }], null, { progress: stopped }],
  ['whose resume was killed in the first suite', two, known, null, { runId: first, progress: { tests: [] } }],
  ['that resumed another', two, chain, first, { runId: second }],
  ['that ended green: none', two, ended, null, finished],
  ['continued by that: none', two, ended, first, `run ${first} was continued; ${finished}`],
  ['older than a green one: none', green, interrupted, null, finished],
  ['older and named', green, interrupted, first, { runId: first }],
  ['before a dry run', { ...one, [third]: { dryRun: true } }, known, null, { runId: first }],
  ['of another machine', green, [...known, { runId: third }], null, { runId: third }],
])('ME-8 continues a run %s', async (_, folder, stored, named, expected) => {
  const found = await resumed(folder, stored, named);
  if (typeof expected === 'string') expect(found).toBe(expected);
  else expect(found).toMatchObject(expected as object);
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
