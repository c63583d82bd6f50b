import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../clock.js';
import type { Event } from '../event.js';
import { createBus, type Reporter } from './bus.js';

/** The file in a run's folder that holds its events, one JSON object per line. */
export const eventsFile = 'events.ndjson';

/** Creates a reporter that writes every event immediately, so that a killed run leaves all events up to the kill. */
export function eventsWriter(dir: string): Reporter {
  const handle = openSync(path.join(dir, eventsFile), 'a+');
  if (isTorn(handle)) writeSync(handle, '\n');
  return {
    name: eventsFile,
    handle: (event) => {
      writeSync(handle, `${JSON.stringify(event)}\n`);
    },
    close: () => closeSync(handle),
  };
}

/** Adds an event to a run that has already ended. */
export async function appendEvent(dir: string, event: Event, clock: Clock): Promise<void> {
  const bus = createBus([eventsWriter(dir)], clock);
  bus.emit(event);
  await bus.close();
}

/** Whether the file ends in half a line, as after a kill, which must not run into the next event. */
function isTorn(handle: number): boolean {
  const { size } = fstatSync(handle);
  const last = Buffer.alloc(1);
  return size > 0 && readSync(handle, last, 0, 1, size - 1) === 1 && last.toString() !== '\n';
}
