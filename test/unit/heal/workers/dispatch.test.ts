import { expect, it } from 'vitest';
import type { Opened } from '../../../../src/heal/open-run.js';
import { createDispatch, type DispatchParts } from '../../../../src/heal/workers/dispatch.js';
import { createPatience } from '../../../../src/queue/patient.js';
import { aSuiteRun, someSettings } from '../../../rig/builders.js';
import { virtualClock } from '../../../rig/virtual-clock.js';

/** What a coordinator does when it ends; `misses` is how often the server is away then. */
async function end(isOver: boolean, { coordinates = true, misses = 0 } = {}) {
  const done: string[] = [];
  let missed = 0;
  const asked = async (what: string) => {
    if (missed++ < misses) throw Object.assign(new Error('no server'), { code: 'ECONNREFUSED' });
    done.push(what);
  };
  const settings = someSettings();
  const bus = { emit: () => undefined, close: async () => [] };
  const parts = {
    opened: { settings, bus } as unknown as Opened,
    first: aSuiteRun(),
    here: { queue: 'causes-1', settings },
    who: 'here',
    patience: createPatience({
      clock: virtualClock(),
      signal: new AbortController().signal,
      forMs: 60_000,
      onAway: () => undefined,
      onBack: () => undefined,
    }),
    queue: { name: 'causes-1', remove: () => asked('remove') },
    table: {
      coordinatorBeat: async () => coordinates,
      workers: async () => [],
      spent: async () => ({ agentRuns: 0, costUsd: null }),
      over: () => asked('over'),
      leave: (who: string) => asked(`leave ${who}`),
    },
  };
  await createDispatch(parts as unknown as DispatchParts).close(isOver);
  return done;
}

it('SC-2 a finished heal leaves nothing in the queue, even if the server is away for a while', async () => {
  expect(await end(true)).toEqual(['remove', 'over']);
  expect(await end(true, { misses: 3 })).toEqual(['remove', 'over']);
});

it('SC-2 an interrupted heal leaves its queue to the one that resumes it', async () => {
  expect(await end(false)).toEqual(['leave here']);
});

it('SC-2 a heal that another machine has taken over removes nothing', async () => {
  expect(await end(true, { coordinates: false })).toEqual([]);
});
