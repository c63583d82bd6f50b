import path from 'node:path';
import { type Event, type StampedEvent, eventIn } from '../event.js';
import { runOf, type RunState } from './run-state.js';
import { readStateText, makeStateFolder, openState, openStateFolder } from '../state-folder.js';
import { closeSync, constants, fstatSync, readSync, writeSync } from 'node:fs';
import { systemClock } from '../clock.js';
import type { Reporter } from './bus.js';
import { pointLatestTo, projectOf } from './run-folder.js';

/** Events by the thousand that say only what is being done at the moment. */
const fleeting = /^\{"time":\d+,"type":"(?:suite\.progress|agent\.activity)"/;

/** Builds the state of the run in this folder from its events. */
export async function readRunState(dir: string): Promise<RunState> {
  const text = readStateText(path.join(dir, eventsFile));
  const lines = text.split('\n').filter((line) => !fleeting.test(line));
  return runOf(
    lines.flatMap((line) => eventIn(line) ?? []),
    path.basename(dir),
  );
}

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
