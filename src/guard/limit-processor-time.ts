import { Worker } from 'node:worker_threads';

/** The signal that ends a process that has used up its time. */
export const timeUsedUpSignal = 'SIGTERM';

/**
 * Ends this process once it has used `limitMs` milliseconds of processor time. A worker thread watches, because an endless loop in this thread would
 * block a timer.
 */
export function limitProcessorTime(limitMs: number): void {
  const watch = `setInterval(() => {
    const { user, system } = process.cpuUsage();
    if ((user + system) / 1000 > ${limitMs}) process.kill(process.pid, '${timeUsedUpSignal}');
  }, 100)`;
  new Worker(watch, { eval: true }).unref();
}
