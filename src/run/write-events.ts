import { closeSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../clock.js';
import type { Event } from '../event.js';
import { createBus, type Reporter } from './bus.js';

/** The file of a run's folder that holds its events, each a line of JSON. */
export const eventsFile = 'events.ndjson';

/** Writes every event at once, so that a killed run has left everything up to its end. */
export function eventsWriter(dir: string): Reporter {
  const handle = openSync(path.join(dir, eventsFile), 'a');
  return {
    name: eventsFile,
    handle: (event) => {
      writeSync(handle, `${JSON.stringify(event)}\n`);
    },
    close: () => closeSync(handle),
  };
}

/** Tells a run of what happened after its end. */
export async function appendEvent(dir: string, event: Event, clock: Clock): Promise<void> {
  const bus = createBus([eventsWriter(dir)], clock);
  bus.emit(event);
  await bus.close();
}
