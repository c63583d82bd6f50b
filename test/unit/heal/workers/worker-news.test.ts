import { expect, it } from 'vitest';
import { createWorkerNews } from '../../../../src/heal/workers/worker-news.js';
import { configDigest } from '../../../../src/queue/queue-name.js';
import type { WorkerRow } from '../../../../src/queue/worker-table.js';
import { aWorker, someSettings } from '../../../rig/builders.js';
import { recordingBus } from '../../../rig/recording-bus.js';

const settings = someSettings();
const here = {
  project: 'shop',
  place: '',
  commit: 'c0ffee0000000000',
  selection: [],
  version: '1.2.3',
  settings,
  queue: 'causes-1',
};

function workerHere(over: Partial<WorkerRow> = {}): WorkerRow {
  const { queue, commit, version } = here;
  return aWorker({ queue, commit, version, config: configDigest(settings), ...over });
}

function news() {
  const { bus, events } = recordingBus();
  const warnings = () => events.flatMap((one) => (one.type === 'run.warning' ? [one.message] : []));
  return { events, warnings, workerNews: createWorkerNews(bus, here, settings) };
}

it.each<[string, Partial<WorkerRow>, RegExp]>([
  ['another commit', { queue: 'other', commit: 'deadbeef00000000' }, /at commit deadbeef0000/],
  ['another self-heal', { queue: 'other', version: '0.9.0' }, /self-heal 0\.9\.0/],
  ['other settings', { queue: 'other', config: 'other' }, /settings/],
  ['other tests', { queue: 'other' }, /tests/],
])('SC-2 warns about a worker with %s if there is no other', (_, over, says) => {
  const { workerNews, events, warnings } = news();
  workerNews.saw([workerHere({ ...over, causeId: 'c1' })], 2);
  // Its causes belong to another heal.
  expect(events.some(({ type }) => type === 'cause.taken')).toBe(false);
  const [warning] = warnings();
  expect(warning).toMatch(new RegExp(`host-1 .*${says.source}`));
  expect(warning).toContain('self-heal worker');
});

it('SC-2 says which worker takes a cause once, not with every look', () => {
  const { workerNews, events } = news();
  const at = (over: Partial<WorkerRow>) => workerNews.saw([workerHere(over)], 1);
  at({});
  at({ beat: 1 });
  at({ beat: 2, state: 'healing', causeId: 'c1' });
  at({ beat: 3, state: 'agent', causeId: 'c1' });
  at({ beat: 4, state: 'agent', causeId: 'c1' });
  at({ beat: 5, state: 'healing', causeId: 'c2' });
  expect(events.map((one) => (one.type === 'cause.taken' ? one.causeId : one.type))).toEqual(['c1', 'c2']);
});

it('SC-2 warns once that there is no worker, and again when the last one has gone', () => {
  const { workerNews, warnings } = news();
  workerNews.saw([], 0);
  expect(warnings()).toEqual([]);
  workerNews.saw([], 1);
  workerNews.saw([], 1);
  expect(warnings()).toHaveLength(1);
  workerNews.saw([workerHere()], 1);
  workerNews.saw([], 1);
  expect(warnings()).toHaveLength(2);
});
