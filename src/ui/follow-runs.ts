import path from 'node:path';
import type { SSEMessage } from 'hono/streaming';
import { appendedLines } from '../appended-lines.js';
import type { Clock } from '../clock.js';
import { latestRunId } from '../run/find-run.js';
import { eventIn } from '../run/read-events.js';
import { eventsFile } from '../run/write-events.js';
import { runDirOf } from '../run/run-folder.js';

interface FollowedRun {
  readonly runId: string;
  readonly news: () => Promise<string[]>;
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
 * Yields server-sent events: `run` with the id of the newest run, its events from the first one, as they are written, and then the same for
 * each later run; `none` while there is no run yet. All events of a run come before the next run. Ends when the signal aborts.
 */
export async function* followRuns(options: FollowOptions): AsyncGenerator<SSEMessage, void> {
  const { projectRoot, signal, clock } = options;
  let run = null as FollowedRun | null;
  let saidNone = false;
  while (!signal.aborted) {
    // Looked up before the file is read, so that everything a run wrote before the next one began is sent first.
    const newest = await latestRunId(projectRoot);
    for (const json of (await run?.news()) ?? []) if (eventIn(json)) yield { data: json };
    if (newest !== null && newest !== run?.runId) {
      const file = path.join(runDirOf(projectRoot, newest), eventsFile);
      run = { runId: newest, news: appendedLines(file) };
      yield { event: 'run', data: newest };
      continue;
    }
    if (!run && !saidNone) yield { event: 'none', data: '' };
    saidNone = true;
    await clock.sleep(POLL_MS, signal);
  }
}
