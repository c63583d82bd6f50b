import path from 'node:path';
import { appendedLines } from '../process/appended-lines.js';
import type { Clock } from '../clock.js';
import type { StampedEvent } from '../event.js';
import { latestRunId } from '../run/find-run.js';
import { eventIn } from '../event.js';
import { reduce } from '../run/reduce.js';
import { runDirOf } from '../run/run-folder.js';
import { emptyRun, type RunState } from '../run/run-state.js';
import { eventsFile } from '../run/write-events.js';

/** The newest run so far, and its events since the last news. */
export interface News {
  readonly run: RunState;
  readonly events: readonly StampedEvent[];
}

/** Which project to follow, and how. */
export interface FollowOptions {
  readonly projectRoot: string;
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** Files are polled rather than watched: watching misses changes behind links, on network drives and in containers. */
const POLL_MS = 200;

/**
 * Yields the newest run, and again whenever it has written events; then each later run in the same way. Yields null while there is no run
 * yet. All events of a run come before the next run. Ends when the signal aborts.
 */
export async function* followRuns(options: FollowOptions): AsyncGenerator<News | null, void> {
  const { projectRoot, signal, clock } = options;
  if ((await latestRunId(projectRoot)) === null) yield null;
  let run = emptyRun();
  let appended = (): string[] => [];
  while (!signal.aborted) {
    // Looked up before the file is read, so that everything a run wrote before the next one began is yielded first.
    const newest = await latestRunId(projectRoot);
    const events = appended().flatMap((line) => eventIn(line) ?? []);
    if (events.length > 0) {
      run = { ...events.reduce(reduce, run), runId: run.runId };
      yield { run, events };
    }
    if (newest !== null && newest !== run.runId) {
      run = emptyRun(newest);
      appended = appendedLines(path.join(runDirOf(projectRoot, newest), eventsFile));
      continue;
    }
    await clock.sleep(POLL_MS, signal);
  }
}
