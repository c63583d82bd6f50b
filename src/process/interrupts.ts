import { findExitCode } from '../model/exit-codes.js';
import { endOwnedProcesses } from './end-processes.js';

/** Turns signals into an `AbortSignal`, and records which signal came first. */
export interface Interrupts extends Disposable {
  readonly signal: AbortSignal;
  getInterruptSignal(): 'SIGINT' | 'SIGTERM' | null;
  /**
   * Names the run in progress, whose processes a second signal ends. An uncaught error interrupts the run, too: the returned promise rejects, and the run
   * can revert unproven changes before the process ends.
   */
  watchRun(runId: string): Promise<never>;
}

/** Signals within this time count as one: npx passes on a Ctrl-C that the terminal has also sent to its child. */
const DUPLICATE_SIGNAL_MS = 1000;

/**
 * Listens for SIGINT, SIGTERM and SIGHUP. The first signal interrupts the run, which then ends what it started and reports. The second kills
 * the run's processes at once, and the third exits.
 */
export function listenForInterrupts(print: (text: string) => void): Interrupts {
  const controller = new AbortController();
  let runId: string | null = null;
  let interruptSignal: 'SIGINT' | 'SIGTERM' | null = null;
  let signalCount = 0;
  let lastSignalAt = -Infinity;
  let onUncaught: ((error: unknown) => void) | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now();
    if (now - lastSignalAt < DUPLICATE_SIGNAL_MS) return;
    lastSignalAt = now;
    signalCount += 1;
    interruptSignal ??= signal === 'SIGINT' ? 'SIGINT' : 'SIGTERM';
    if (signalCount === 1) print('interrupted: stopping agents, browsers and servers …');
    if (signalCount === 2 && runId !== null) {
      print('interrupted again: ending them without waiting …');
      void endOwnedProcesses({ runId }, { graceMs: 0 }).catch(() => undefined);
    }
    if (signalCount >= 3) process.exit(findExitCode(signal));
    controller.abort();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return {
    signal: controller.signal,
    getInterruptSignal: () => interruptSignal,
    watchRun: (id) => {
      runId = id;
      const uncaught = new Promise<never>((_, reject) => {
        onUncaught = (error) => {
          reject(error);
          controller.abort();
        };
        process.on('uncaughtException', onUncaught);
      });
      // The run might not be awaiting this promise yet.
      uncaught.catch(() => undefined);
      return uncaught;
    },
    [Symbol.dispose]: () => {
      for (const signal of signals) process.off(signal, onSignal);
      if (onUncaught) process.off('uncaughtException', onUncaught);
    },
  };
}

/** Interrupts a run that is part of another program, which handles signals and errors itself. */
export function createInterrupts(signal: AbortSignal): Interrupts {
  return {
    signal,
    getInterruptSignal: () => (signal.aborted ? 'SIGINT' : null),
    watchRun: () => new Promise<never>(() => undefined),
    [Symbol.dispose]: () => undefined,
  };
}
