import { closeSync, constants, fstatSync, readSync, writeSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../clock.js';
import type { Event, StampedEvent } from '../event.js';
import type { Reporter } from './bus.js';
import { makeStateFolder, openState, openStateFolder } from '../state-folder.js';
import { pointLatestTo, projectOf } from './run-folder.js';

/** The file in a run's folder that holds its events, one JSON object per line. */
export const eventsFile = 'events.ndjson';

const { O_APPEND, O_CREAT, O_RDWR } = constants;
const open = (dir: string) => openState(path.join(dir, eventsFile), O_APPEND | O_CREAT | O_RDWR);

/**
 * Creates a reporter that writes every event immediately, so that a killed run leaves all events up to the kill. If somebody deletes the
 * file meanwhile, as `git clean -fdx` does, it is written again as a whole: without it, a run cannot be undone.
 */
export function eventsWriter(dir: string) {
  let handle = open(dir);
  if (isTorn(handle)) writeSync(handle, '\n');
  return {
    name: eventsFile,
    handle: (event: StampedEvent) => {
      if (fstatSync(handle).nlink === 0) handle = writtenAgain(handle, dir);
      writeSync(handle, `${JSON.stringify(event)}\n`);
    },
    close: () => closeSync(handle),
  } satisfies Reporter;
}

/** Adds an event to a run that has already ended; throws if it cannot be written. */
export function appendEvent(dir: string, event: Event): void {
  const writer = eventsWriter(dir);
  try {
    writer.handle({ time: systemClock.now(), ...event });
  } finally {
    writer.close();
  }
}

/** Copies a deleted file, which can be read until it is closed, to its old path; returns the copy's handle. */
function writtenAgain(deleted: number, dir: string): number {
  const text = Buffer.alloc(fstatSync(deleted).size);
  readSync(deleted, text, 0, text.length, 0);
  closeSync(deleted);
  openStateFolder(projectOf(dir));
  makeStateFolder(dir);
  pointLatestTo(dir);
  const handle = open(dir);
  writeSync(handle, text);
  return handle;
}

/** Whether the file ends in half a line, as after a kill, which must not run into the next event. */
function isTorn(handle: number): boolean {
  const { size } = fstatSync(handle);
  const last = Buffer.alloc(1);
  return size > 0 && readSync(handle, last, 0, 1, size - 1) === 1 && last.toString() !== '\n';
}
