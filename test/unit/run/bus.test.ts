import { expect, it } from 'vitest';
import { createBus, type Reporter } from '../../../src/run/bus.js';
import type { StampedEvent } from '../../../src/event.js';
import { virtualClock } from '../../rig/virtual-clock.js';

it('RP-1 continues without a reporter that throws, and names it', async () => {
  const seen: StampedEvent[] = [];
  const broken: Reporter = {
    name: 'broken',
    handle: () => {
      throw new Error('disk full');
    },
  };
  const good: Reporter = { name: 'good', handle: (event) => void seen.push(event) };
  const bus = createBus([broken, good], virtualClock(7));
  bus.emit({ type: 'run.warning', message: 'a' });
  bus.emit({ type: 'run.warning', message: 'b' });
  expect(seen.map((event) => event.time)).toEqual([7, 7]);
  expect(await bus.close()).toEqual(['reporter broken: disk full']);
});
