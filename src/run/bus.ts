import type { Clock } from '../clock.js';
import type { Event, EventOf, StampedEvent } from '../event.js';
import { describeError } from '../problem.js';
import { reduce, createEmptyRun, type RunState } from './run-state.js';

/** Renders events, for example to the terminal. */
export interface Reporter {
  /** Its name in the message if it throws. */
  readonly name: string;
  /** Receives an event, together with the state of the run after it. */
  handle(event: StampedEvent, run: RunState): void;
  /** Flushes pending output; called once, after the last event. */
  close?(): Promise<void> | void;
}

/** An event with only the fields of its type. Without this, TypeScript would accept a spread of misspelled optional fields. */
type Exact<E extends Event> = E & Record<Exclude<keyof E, keyof EventOf<E['type']>>, never>;

/** Passes each event to every reporter, and maintains the state of the run. */
export interface Bus {
  emit<E extends Event>(event: Exact<E>): void;
  /** The state of the run so far, from the same masked events that the reporters get, so it contains no secrets. */
  getRun(): RunState;
  /** Closes the reporters; returns their errors, which make the run exit non-zero. */
  close(): Promise<readonly string[]>;
}

/** Cleans every event before any reporter sees it; implemented by `Redactor`. */
export interface Cleaner {
  deep<T>(value: T): T;
}

/**
 * Creates a bus whose reporters cannot stop the run: a reporter that throws is silenced, and its error is kept. Reporters see only cleaned events
 * (EV-9, EV-10).
 */
export function createBus(reporters: readonly Reporter[], clock: Clock, cleaner?: Cleaner): Bus {
  const errors = new Map<Reporter, string>();
  let run = createEmptyRun();
  const callSafely = async (reporter: Reporter, call: () => Promise<void> | void) => {
    try {
      await call();
    } catch (error) {
      errors.set(reporter, `reporter ${reporter.name}: ${describeError(error)}`);
    }
  };
  return {
    emit: (event: Event) => {
      const stamped: StampedEvent = { time: clock.now(), ...(cleaner ? cleaner.deep(event) : event) };
      run = reduce(run, stamped);
      for (const reporter of reporters) {
        if (!errors.has(reporter)) void callSafely(reporter, () => reporter.handle(stamped, run));
      }
    },
    getRun: () => run,
    close: async () => {
      for (const reporter of reporters) await callSafely(reporter, () => reporter.close?.());
      return [...errors.values()];
    },
  };
}
