import path from 'node:path';
import { appendedLines } from '../appended-lines.js';
import type { Clock } from '../clock.js';
import { latestRunId } from '../run/find-run.js';
import { eventIn } from '../run/read-events.js';
import { eventsFile } from '../run/write-events.js';
import { runDirOf } from '../run/run-folder.js';

/** A message to a page. */
export type Message =
  /** There is no run yet. */
  | { readonly kind: 'none' }
  /** All events from here on belong to this run, starting with its first. */
  | { readonly kind: 'run'; readonly runId: string }
  /** One event, as a line of JSON. */
  | { readonly kind: 'event'; readonly json: string };

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
 * Yields the events of the newest run from its first one, as they are written, and then those of each later run. All events of a run
 * come before the next run. Ends when the signal aborts.
 */
export async function* followRuns(options: FollowOptions): AsyncGenerator<Message, void> {
  const { projectRoot, signal, clock } = options;
  let run = null as FollowedRun | null;
  let saidNone = false;
  while (!signal.aborted) {
    // Looked up before the file is read, so that everything a run wrote before the next one began is sent first.
    const newest = await latestRunId(projectRoot);
    for (const json of (await run?.news()) ?? []) if (eventIn(json)) yield { kind: 'event', json };
    if (newest !== null && newest !== run?.runId) {
      const file = path.join(runDirOf(projectRoot, newest), eventsFile);
      run = { runId: newest, news: appendedLines(file) };
      yield { kind: 'run', runId: newest };
      continue;
    }
    if (!run && !saidNone) yield { kind: 'none' };
    saidNone = true;
    await clock.sleep(POLL_MS, signal);
  }
}
