import type { Event } from '../../src/event.js';
import { createBus, type Cleaner, type Reporter } from '../../src/run/bus.js';
import { virtualClock } from './virtual-clock.js';

/** Creates a bus, and records the events sent to it, without their times. */
export function recordingBus(clock = virtualClock(), cleaner?: Cleaner) {
  const events: Event[] = [];
  const record: Reporter = {
    name: 'record',
    handle: (stamped) => {
      const { time: _, ...event } = stamped;
      events.push(event);
    },
  };
  return { bus: createBus([record], clock, cleaner), events };
}
