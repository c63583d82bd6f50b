import path from 'node:path';
import { open } from 'node:fs/promises';
import type { Clock } from '../clock.js';
import { latestRunId } from '../run/find-run.js';
import { eventIn } from '../run/read-events.js';
import { eventsFile } from '../run/write-events.js';
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
export async function* followRuns(options: FollowOptions): AsyncGenerator<Message, void> {
  const { projectRoot, signal, clock } = options;
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

const NEWLINE = 0x0a;

/**
 * Follows a file that another process appends to: each call gives the complete lines since the last one, without their ends; none
 * where there is no file. Bytes are cut at line ends and only then decoded, so that no character is torn.
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
