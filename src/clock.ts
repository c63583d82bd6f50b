import { setTimeout } from 'node:timers/promises';

/** The clock and the random numbers of a run, as a parameter so that tests run in virtual time. */
export interface Clock {
  /** Whole milliseconds since the epoch. Two calls differ by the time between them, even if the machine's clock is set meanwhile. */
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A number in [0, 1). */
  random(): number;
}

/**
 * When the monotonic clock of this process was at 0, in milliseconds since the epoch. A delay between the two calls makes the result too early, so the
 * latest of several readings is the best.
 */
const origin = Math.max(...Array.from({ length: 10 }, () => Date.now() - performance.now()));

/**
 * The machine's clock at the start of this process, plus the time since then. Setting the clock or suspending the machine does not change limits
 * and durations.
 */
export const systemClock: Clock = {
  // Rounded up, because `origin` is up to 1 ms early, and a file written just before must not look newer.
  now: () => Math.ceil(origin + performance.now()),
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => undefined),
  random: () => Math.random(),
};
