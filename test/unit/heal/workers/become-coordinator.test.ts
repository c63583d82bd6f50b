import { expect, it } from 'vitest';
import { becomeCoordinator } from '../../../../src/heal/workers/open-workers.js';
import type { Coordinator } from '../../../../src/queue/worker-table.js';
import { virtualClock } from '../../../rig/virtual-clock.js';

const leaseMs = 30_000;

/** Another one coordinates, and gives a sign each second until it ends or dies. */
function beside(so: { diesAt?: number; endsAt?: number }) {
  const clock = virtualClock();
  const signs = () => Math.floor(Math.min(clock.now(), so.diesAt ?? Infinity) / 1000);
  const coordinate = async (_who: string, instead?: Coordinator) => {
    if (clock.now() >= (so.endsAt ?? Infinity) || instead?.beat === signs()) return null;
    return { who: 'other', beat: signs() };
  };
  const { signal } = new AbortController();
  return { came: becomeCoordinator({ coordinate }, 'here', { leaseMs, signal, clock }), clock };
}

it('SC-2 where nobody coordinates, it does so at once', async () => {
  const { came, clock } = beside({ endsAt: 0 });
  expect(await came).toBeNull();
  expect(clock.now()).toBe(0);
});

it('SC-2 of two coordinators of a commit the second is told of the first after a lease, and does not wait for its end', async () => {
  const { came, clock } = beside({});
  expect(await came).toEqual({ who: 'other', beat: 30 });
  expect(clock.now()).toBe(leaseMs);
});

it('SC-2 one that was killed is followed after a lease', async () => {
  const { came, clock } = beside({ diesAt: 0 });
  expect(await came).toBeNull();
  expect(clock.now()).toBe(leaseMs);
});
