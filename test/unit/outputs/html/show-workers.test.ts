import { expect, it } from 'vitest';
import type { Event, WorkerSummary } from '../../../../src/event.js';
import { phaseOf, showLiveCause, showWorkers } from '../../../../src/outputs/html/show-live.js';
import { reduce } from '../../../../src/run/reduce.js';
import { emptyRun } from '../../../../src/run/run-state.js';
import { aCauseSummary } from '../../../rig/shown-run.js';
import { hostile } from '../../../rig/stored-run.js';

async function tableOf(...workers: Partial<WorkerSummary>[]): Promise<string> {
  const all = workers.map((over) => ({
    name: 'host-1',
    state: 'waiting' as const,
    since: 1000,
    causeId: null,
    elsewhere: null,
    ...over,
  }));
  const run = reduce(emptyRun('run'), { type: 'workers.seen', workers: all, time: 1 });
  return String(showWorkers(run));
}

const cellsOf = (table: string) =>
  [...table.matchAll(/<td[^>]*>([^]*?)<\/td>/g)].map(([, cell = '']) =>
    cell.replaceAll(/<[^>]*>/g, '').trim(),
  );

it('SC-2 RP-5 shows each worker as a row with its name, its cause, what it does, and since when', async () => {
  const table = await tableOf(
    {},
    { name: 'host-2', causeId: 'c1', state: 'healing' },
    { name: 'host-3', causeId: 'c2', state: 'agent' },
  );
  expect(table.match(/<tr/g)).toHaveLength(1 + 3);
  const cells = cellsOf(table);
  expect(cells.filter((_, at) => at % 4 === 0)).toEqual(['host-1', 'host-2', 'host-3']);
  expect(cells.filter((_, at) => at % 4 === 1).slice(1)).toEqual(['c1', 'c2']);
  expect(new Set(cells.filter((_, at) => at % 4 === 2)).size).toBe(3);
  expect(table).toContain('data-since="1000"');
});

it('SC-2 RP-5 shows why a worker takes none of the causes, in a quiet style', async () => {
  const table = await tableOf({ elsewhere: 'is at commit deadbeef0000' });
  expect(table).toContain('is at commit deadbeef0000');
  expect(table).toContain('class="quiet"');
});

it('SC-2 EV-10 escapes what a row of the store contains', async () => {
  expect(await tableOf({ name: hostile, causeId: hostile, elsewhere: hostile })).not.toMatch(
    /<(?:img|script)/,
  );
});

it('SC-2 RP-5 counts the causes in progress in the heading, and shows those that no worker has taken as waiting', async () => {
  const ids = Array.from({ length: 20 }, (_, n) => `c${n + 1}`);
  const events = ids.flatMap((causeId, at): Event[] => [
    { type: 'cause.found', cause: aCauseSummary({ id: causeId }) },
    { type: 'cause.started', causeId },
    { type: 'cause.sent', causeId },
    ...(at < 8 ? [{ type: 'cause.taken' as const, causeId, worker: `host-${at}` }] : []),
  ]);
  const run = events.reduce((so, event) => reduce(so, { time: 1, ...event }), emptyRun('run'));
  expect(phaseOf(run)).toBe('8 causes in progress, 12 in the queue');
  const cards = await Promise.all(run.causes.map(async (cause) => showLiveCause(cause, null)));
  const states = cards.map((card) => /data-state="(\w+)"/.exec(String(card))?.[1]);
  expect(states).toEqual(ids.map((_, at) => (at < 8 ? 'working' : 'waiting')));
});
