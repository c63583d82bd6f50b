import path from 'node:path';
import type { Clock } from '../clock.js';
import { latestRunId } from '../inspect/find-run.js';
import { eventIn } from '../run/read-events.js';
import { eventsFile } from '../run/write-events.js';
import { followFile } from './follow-file.js';
import { runDirOf } from '../run/run-folder.js';

/** What there is to tell a page. */
export type Message =
  /** There is no run yet. */
  | { readonly kind: 'none' }
  /** From here on the events are those of this run, from its first. */
  | { readonly kind: 'run'; readonly runId: string }
  /** One event, as its line of JSON. */
  | { readonly kind: 'event'; readonly json: string };

interface FollowedRun {
  readonly runId: string;
  readonly news: () => Promise<string[]>;
}

/** Which project to follow. */
export interface FollowOptions {
  readonly projectRoot: string;
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** Files are polled, not watched: watching misses changes behind links, on network drives and in containers. */
const POLL_MS = 200;

/**
 * The events of the newest run from its first, as they are written, and of each run that begins after it. A run is told to its
 * end before the next one begins. Ends when the signal aborts.
 */
export async function* followRuns({
  projectRoot,
  signal,
  clock,
}: FollowOptions): AsyncGenerator<Message, void> {
  let run = null as FollowedRun | null;
  let saidNone = false;
  while (!signal.aborted) {
    // Asked before the file is read: what the run wrote before the next one began is then told first.
    const newest = await latestRunId(projectRoot);
    for (const json of (await run?.news()) ?? []) if (eventIn(json)) yield { kind: 'event', json };
    if (newest !== null && newest !== run?.runId) {
      const file = path.join(runDirOf(projectRoot, newest), eventsFile);
      run = { runId: newest, news: followFile(file) };
      yield { kind: 'run', runId: newest };
      continue;
    }
    if (!run && !saidNone) yield { kind: 'none' };
    saidNone = true;
    await clock.sleep(POLL_MS, signal);
  }
}
