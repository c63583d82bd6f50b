import { expect, it } from 'vitest';
import { createIdle } from '../../../../src/heal/workers/work.js';
import type { Coordinator } from '../../../../src/queue/worker-table.js';
import { virtualClock } from '../../../rig/virtual-clock.js';

function waiting(timeoutMs: number | null) {
  const clock = virtualClock();
  let coordinator: Coordinator | null = null;
  const idle = createIdle({ table: { coordinator: async () => coordinator }, clock, timeoutMs });
  return {
    idle,
    /** Lets time pass with this coordinator, and returns why the worker ends, or null. */
    after: async (ms: number, now: Coordinator | null): Promise<string | null> => {
      coordinator = now;
      await clock.sleep(ms);
      return idle.overWhy();
    },
  };
}

const at = (beat: number): Coordinator => ({ who: 'host', beat });

it('SC-2 a worker ends when there was no coordinator for the timeout, and not before', async () => {
  const { after } = waiting(1000);
  expect(await after(999, null)).toBeNull();
  expect(await after(1, null)).toContain('no cause');
});

it('SC-2 a worker waits as long as a coordinator sends heartbeats, and ends when the heal is over', async () => {
  const { after } = waiting(1000);
  for (let beat = 0; beat < 10; beat += 1) expect(await after(900, at(beat))).toBeNull();
  expect(await after(1, null)).toContain('is over');
});

it('SC-2 a coordinator that was killed or has left does not stop the timeout', async () => {
  for (const silent of [at(1), { who: '', beat: 1 }]) {
    const { after } = waiting(1000);
    expect(await after(10, at(1))).toBeNull();
    expect(await after(999, silent)).toBeNull();
    expect(await after(1, silent)).toContain('no cause');
  }
});

it('SC-2 a cause restarts the timeout, and a worker without one never ends', async () => {
  const { idle, after } = waiting(1000);
  expect(await after(900, null)).toBeNull();
  idle.busy();
  expect(await after(900, null)).toBeNull();
  const forever = waiting(null);
  expect(await forever.after(1e9, null)).toBeNull();
});
