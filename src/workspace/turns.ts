import { setImmediate } from 'node:timers/promises';

const turnMs = 2;

/**
 * For loops of many small synchronous calls, which take a fraction of what the same calls take through the thread pool. Awaited before each step,
 * it lets the rest of the program go on every two milliseconds.
 */
export function turns(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < turnMs) return undefined;
    return setImmediate().then(() => void (since = performance.now()));
  };
}
