import { Worker } from 'node:worker_threads';

/** What the parent sees of a process that has used up its time. */
export const usedUp = 'SIGTERM';

/**
 * Ends this process when it has used so many milliseconds of processor time. A thread watches, since what is read for ever never gives the
 * turn away.
 */
export function limitProcessorTime(limitMs: number): void {
  const watch = `setInterval(() => {
    const { user, system } = process.cpuUsage();
    if ((user + system) / 1000 > ${limitMs}) process.kill(process.pid, '${usedUp}');
  }, 100)`;
  new Worker(watch, { eval: true }).unref();
}
