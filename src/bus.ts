import type { Clock } from './clock.js';
import type { Event, StampedEvent } from './event.js';

/** Something that renders events. */
export interface Reporter {
  /** For the message when it throws. */
  readonly name: string;
  handle(event: StampedEvent): void;
  /** Flushes what is left; called once, after the last event. */
  close?(): Promise<void> | void;
}

/** Hands each event to each reporter. */
export interface Bus {
  emit(event: Event): void;
  /** Closes the reporters; gives what went wrong in any of them, so that the run can end non-zero. */
  close(): Promise<readonly string[]>;
}

/** A bus whose reporters cannot stop the run: one that throws is silenced and its error kept. */
export function createBus(reporters: readonly Reporter[], clock: Clock): Bus {
  const broken = new Map<Reporter, string>();
  const guard = async (reporter: Reporter, call: () => Promise<void> | void) => {
    try {
      await call();
    } catch (error) {
      broken.set(
        reporter,
        `reporter ${reporter.name}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  };
  return {
    emit: (event) => {
      const stamped = { time: clock.now(), ...event };
      for (const reporter of reporters) {
        if (!broken.has(reporter)) void guard(reporter, () => reporter.handle(stamped));
      }
    },
    close: async () => {
      for (const reporter of reporters) await guard(reporter, () => reporter.close?.());
      return [...broken.values()];
    },
  };
}
