import { closeSync, openSync, writeSync } from 'node:fs';
import type { Reporter } from '../run/bus.js';

/** Writes every event as a line of JSON, at once, so that a killed run has left everything up to its end. */
export function ndjsonReporter(file: string): Reporter {
  const handle = openSync(file, 'a');
  return {
    name: 'events.ndjson',
    handle: (event) => {
      writeSync(handle, `${JSON.stringify(event)}\n`);
    },
    close: () => closeSync(handle),
  };
}
