import path from 'node:path';
import { type Event, type StampedEvent, parseEvent } from '../event.js';
import { replayRun, type RunState } from './run-state.js';
import { readStateText, openStateFile } from '../state-folder.js';
import { closeSync, constants, fstatSync, readSync, writeSync } from 'node:fs';
import { systemClock } from '../clock.js';
import type { Reporter } from './bus.js';

/** Frequent events that describe only the current activity. */
export const transientEvents: readonly Event['type'][] = ['agent.activity', 'suite.progress'];

const transientLine = new RegExp(`^\\{"time":\\d+,"type":"(?:${transientEvents.join('|')})"`);

/** Builds the state of the run in this folder from its events. */
export async function readRunState(dir: string): Promise<RunState> {
  const text = readStateText(path.join(dir, eventsFile));
  const lines = text.split('\n').filter((line) => !transientLine.test(line));
  return replayRun(
    lines.flatMap((line) => parseEvent(line) ?? []),
    path.basename(dir),
  );
}

/** The file in a run's folder that holds its events, one JSON object per line. */
export const eventsFile = 'events.ndjson';

const { O_APPEND, O_CREAT, O_RDWR } = constants;
const openEventsFile = (dir: string) =>
  openStateFile(path.join(dir, eventsFile), O_APPEND | O_CREAT | O_RDWR);

/** Creates a reporter that writes every event immediately, so that a killed run leaves all events up to the kill. */
export function createEventsWriter(dir: string) {
  const handle = openEventsFile(dir);
  if (endsInHalfLine(handle)) writeSync(handle, '\n');
  return {
    name: eventsFile,
    handle: (event: StampedEvent) => void writeSync(handle, `${JSON.stringify(event)}\n`),
    close: () => closeSync(handle),
  } satisfies Reporter;
}

/** Adds an event to a run that has already ended; throws if it cannot be written. */
export function appendEvent(dir: string, event: Event): void {
  const writer = createEventsWriter(dir);
  try {
    writer.handle({ time: systemClock.now(), ...event });
  } finally {
    writer.close();
  }
}

/** True if the file ends with half a line, as after a kill; the next event must start on a new line. */
function endsInHalfLine(handle: number): boolean {
  const { size } = fstatSync(handle);
  const last = Buffer.alloc(1);
  return size > 0 && readSync(handle, last, 0, 1, size - 1) === 1 && last.toString() !== '\n';
}
