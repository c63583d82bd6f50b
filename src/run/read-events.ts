import path from 'node:path';
import { eventIn } from '../event.js';
import { runOf } from './reduce.js';
import type { RunState } from './run-state.js';
import { readStateText } from '../state-folder.js';
import { eventsFile } from './write-events.js';

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
