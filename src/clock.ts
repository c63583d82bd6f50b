import { setTimeout } from 'node:timers/promises';

/** Time and chance as parameters, so that tests run in virtual time. */
export interface Clock {
  /** Milliseconds since the epoch, in whole numbers. Two calls differ by the time that passed, whatever happens to the machine's clock. */
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A number in [0, 1). */
  random(): number;
}

/**
 * When the monotonic clock of this process was at 0, in milliseconds since the epoch. A process that has to wait for the processor between the two
 * calls reads it too early, so the latest of several readings is the best.
 */
const origin = Math.max(...Array.from({ length: 10 }, () => Date.now() - performance.now()));

/**
 * The machine's clock when this process started, and the time since. If it is set back or forward meanwhile, or the machine sleeps, limits and
 * durations do not change.
 */
export const systemClock: Clock = {
  // Rounded up, because `origin` is up to 1 ms early: a file that was written just before is not newer.
  now: () => Math.ceil(origin + performance.now()),
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => undefined),
  random: () => Math.random(),
};
