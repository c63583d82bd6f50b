import { Worker } from 'node:worker_threads';

/** The signal that ends a process whose time is used up. */
export const usedUp = 'SIGTERM';

/**
 * Ends this process once it has used `limitMs` milliseconds of processor time. A worker thread watches, since an endless loop in this
 * thread would keep a timer from firing.
 */
export function limitProcessorTime(limitMs: number): void {
  const watch = `setInterval(() => {
    const { user, system } = process.cpuUsage();
    if ((user + system) / 1000 > ${limitMs}) process.kill(process.pid, '${usedUp}');
  }, 100)`;
  new Worker(watch, { eval: true }).unref();
}
