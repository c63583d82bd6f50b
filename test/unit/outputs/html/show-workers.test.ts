import { expect, it } from 'vitest';
import type { WorkerSummary } from '../../../../src/event.js';
import { showWorkers } from '../../../../src/outputs/html/show-live.js';
import { reduce } from '../../../../src/run/reduce.js';
import { emptyRun } from '../../../../src/run/run-state.js';
import { hostile } from '../../../rig/stored-run.js';

function tableOf(...workers: Partial<WorkerSummary>[]): string {
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

it('SC-2 RP-5 each worker is a row: its name, its cause, what it does, and since when', () => {
  const table = tableOf(
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

it('SC-2 RP-5 one that takes none of the causes says why, and is not as loud', () => {
  const table = tableOf({ elsewhere: 'is at commit deadbeef0000' });
  expect(table).toContain('is at commit deadbeef0000');
  expect(table).toContain('class="quiet"');
});

it('SC-2 EV-10 what a row of the store says is text, whatever it holds', () => {
  expect(tableOf({ name: hostile, causeId: hostile, elsewhere: hostile })).not.toMatch(/<(?:img|script)/);
});
