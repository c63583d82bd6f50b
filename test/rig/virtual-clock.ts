import type { Clock } from '../../src/clock.js';

/** A clock whose sleeps take no time and are recorded. */
export interface VirtualClock extends Clock {
  readonly slept: number[];
  advance(ms: number): void;
}

export function virtualClock(start = 0): VirtualClock {
  let now = start;
  const slept: number[] = [];
  return {
    slept,
    now: () => now,
    random: () => 0.5,
    advance: (ms) => {
      now += ms;
    },
    sleep: async (ms) => {
      slept.push(ms);
      now += ms;
    },
  };
}
