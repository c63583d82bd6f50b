import { expect, it } from 'vitest';
import { becomeCoordinator } from '../../../../src/heal/workers/open-workers.js';
import type { Coordinator } from '../../../../src/queue/worker-table.js';
import { virtualClock } from '../../../rig/virtual-clock.js';

const leaseMs = 30_000;

/** Becomes the coordinator beside another one, which sends a heartbeat each second until it ends or dies. */
function beside(so: { diesAt?: number; endsAt?: number }) {
  const clock = virtualClock();
  const beats = () => Math.floor(Math.min(clock.now(), so.diesAt ?? Infinity) / 1000);
  const coordinate = async (_who: string, instead?: Coordinator) => {
    if (clock.now() >= (so.endsAt ?? Infinity) || instead?.beat === beats()) return null;
    return { who: 'other', beat: beats() };
  };
  const { signal } = new AbortController();
  return { came: becomeCoordinator({ coordinate }, 'here', { leaseMs, signal, clock }), clock };
}

it('SC-2 becomes the coordinator at once if there is none', async () => {
  const { came, clock } = beside({ endsAt: 0 });
  expect(await came).toBeNull();
  expect(clock.now()).toBe(0);
});

it('SC-2 learns of another coordinator of the commit after a lease, and does not wait for its end', async () => {
  const { came, clock } = beside({});
  expect(await came).toEqual({ who: 'other', beat: 30 });
  expect(clock.now()).toBe(leaseMs);
});

it('SC-2 replaces a killed coordinator after a lease', async () => {
  const { came, clock } = beside({ diesAt: 0 });
  expect(await came).toBeNull();
  expect(clock.now()).toBe(leaseMs);
});
