import path from 'node:path';
import { open } from 'node:fs/promises';
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
      run = { runId: newest, news: followFile(file) };
      yield { kind: 'run', runId: newest };
      continue;
    }
    if (!run && !saidNone) yield { kind: 'none' };
    saidNone = true;
    await clock.sleep(POLL_MS, signal);
  }
}

const NEWLINE = 0x0a;

/**
 * Follows a file that another process appends to. Each call returns the complete lines since the last call, without line ends; none if
 * there is no file. Bytes are split at line ends before they are decoded, so that no character is split.
 */
function followFile(file: string): () => Promise<string[]> {
  let offset = 0;
  let rest: Buffer = Buffer.alloc(0);
  return async () => {
    const handle = await open(file, 'r').catch(() => null);
    if (handle === null) return [];
    try {
      const { size } = await handle.stat();
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.max(0, size - offset)), {
        position: offset,
      });
      offset += bytesRead;
      const bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      rest = bytes.subarray(end);
      return end === 0 ? [] : bytes.toString('utf8', 0, end - 1).split('\n');
    } finally {
      await handle.close();
    }
  };
}
