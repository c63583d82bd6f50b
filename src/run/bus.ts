import type { Clock } from '../clock.js';
import type { Event, StampedEvent } from '../event.js';
import { reasonOf } from '../reason-of.js';
import { reduce } from './reduce.js';
import { emptyRun, type RunState } from './run-state.js';

/** Something that renders events. */
export interface Reporter {
  /** For the message when it throws. */
  readonly name: string;
  /** Hears of an event, and what the run is with it. */
  handle(event: StampedEvent, run: RunState): void;
  /** Flushes what is left; called once, after the last event. */
  close?(): Promise<void> | void;
}

/** Hands each event to each reporter, and keeps what they add up to. */
export interface Bus {
  emit(event: Event): void;
  /** The run so far. It holds what the reporters saw, and so no secret. */
  run(): RunState;
  /** Closes the reporters; gives what went wrong in any of them, so that the run can end non-zero. */
  close(): Promise<readonly string[]>;
}

/** What every event passes before any reporter sees it; a `Redactor` is one. */
export interface Cleaner {
  deep<T>(value: T): T;
}

/**
 * A bus whose reporters cannot stop the run: one that throws is silenced and its error kept. Reporters see nothing but
 * what the cleaner lets through (EV-9, EV-10).
 */
export function createBus(reporters: readonly Reporter[], clock: Clock, cleaner?: Cleaner): Bus {
  const broken = new Map<Reporter, string>();
  let run = emptyRun();
  const guard = async (reporter: Reporter, call: () => Promise<void> | void) => {
    try {
      await call();
    } catch (error) {
      broken.set(reporter, `reporter ${reporter.name}: ${reasonOf(error)}`);
    }
  };
  return {
    emit: (event) => {
      const stamped: StampedEvent = { time: clock.now(), ...(cleaner ? cleaner.deep(event) : event) };
      run = reduce(run, stamped);
      for (const reporter of reporters) {
        if (!broken.has(reporter)) void guard(reporter, () => reporter.handle(stamped, run));
      }
    },
    run: () => run,
    close: async () => {
      for (const reporter of reporters) await guard(reporter, () => reporter.close?.());
      return [...broken.values()];
    },
  };
}
