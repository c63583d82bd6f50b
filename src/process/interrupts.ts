import { exitCodeOfSignal } from '../core/exit-codes.js';

/** Turns signals into an `AbortSignal`, and remembers which signal it was. */
export interface Interrupts extends Disposable {
  readonly signal: AbortSignal;
  by(): 'SIGINT' | 'SIGTERM' | null;
}

/**
 * Listens for SIGINT, SIGTERM and SIGHUP. The first signal interrupts the run, which then ends what it started and reports. The third exits at
 * once, for a person who does not want to wait.
 */
export function listenForInterrupts(say: (text: string) => void): Interrupts {
  const controller = new AbortController();
  let by: 'SIGINT' | 'SIGTERM' | null = null;
  let count = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    count += 1;
    by ??= signal === 'SIGINT' ? 'SIGINT' : 'SIGTERM';
    if (count === 1) say('interrupted: stopping agents, browsers and servers …');
    if (count >= 3) process.exit(exitCodeOfSignal(signal));
    controller.abort();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return {
    signal: controller.signal,
    by: () => by,
    [Symbol.dispose]: () => {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
