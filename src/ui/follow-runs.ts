import path from 'node:path';
import type { Clock } from '../clock.js';
import { latestRunId, runIdsIn } from '../inspect/find-run.js';
import { eventIn } from '../run/read-events.js';
import { eventsFile } from '../run/write-events.js';
import { followFile, type FollowedFile } from './follow-file.js';

/** A place in a run's events: the lines up to and with this one, counted from 1, are known. */
export interface Place {
  readonly runId: string;
  readonly line: number;
}

/** What there is to tell a page. */
export type Message =
  /** There is no run yet. */
  | { readonly kind: 'none' }
  /** From here on the events are those of this run, from its first. */
  | { readonly kind: 'run'; readonly runId: string }
  /** One event, as its line of JSON. */
  | { readonly kind: 'event'; readonly at: Place; readonly json: string };

/** Which project to follow, and from where. */
export interface FollowOptions {
  readonly projectRoot: string;
  /** Up to where the page has seen everything, or null for the beginning of the newest run. */
  readonly after: Place | null;
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** Files are looked at, not watched: watching misses changes behind links, on network drives and in containers. */
const LOOK_MS = 200;

/**
 * The events of the newest run as they are written, and of each that begins after it. A run is told to its end before the next
 * one begins. Ends when the signal aborts.
 */
export async function* followRuns(options: FollowOptions): AsyncGenerator<Message, void> {
  const { projectRoot, signal, clock } = options;
  let run = await resumed(options);
  let saidNone = false;
  while (!signal.aborted) {
    // Asked before the file is read: what the run wrote before the next one began is then told first.
    const newest = await latestRunId(projectRoot);
    if (run) yield* run.news();
    if (newest !== null && newest !== run?.runId) run = new FollowedRun(projectRoot, newest);
    else {
      if (!run && !saidNone) yield { kind: 'none' };
      saidNone = true;
      await clock.sleep(LOOK_MS, signal);
    }
  }
}

async function resumed({ projectRoot, after }: FollowOptions): Promise<FollowedRun | null> {
  if (after === null || !(await runIdsIn(projectRoot)).includes(after.runId)) return null;
  return new FollowedRun(projectRoot, after.runId, after.line);
}

/** A run's events, from where the page was. */
class FollowedRun {
  readonly #file: FollowedFile;
  readonly runId: string;
  #line = 0;
  #known: number;

  constructor(projectRoot: string, runId: string, known = 0) {
    this.runId = runId;
    this.#known = known;
    this.#file = followFile(path.join(projectRoot, '.self-heal', 'runs', runId, eventsFile));
  }

  async *news(): AsyncGenerator<Message, void> {
    const news = await this.#file.news();
    if (news === null) return;
    // A page that knows more lines than there are has seen another file under this name.
    if (news.startsAgain || (this.#line === 0 && this.#known > news.lines.length)) this.#forget();
    for (const json of news.lines) {
      if (this.#line === 0 && this.#known === 0) yield { kind: 'run', runId: this.runId };
      this.#line += 1;
      if (this.#line > this.#known && eventIn(json)) {
        yield { kind: 'event', at: { runId: this.runId, line: this.#line }, json };
      }
    }
  }

  #forget(): void {
    this.#line = 0;
    this.#known = 0;
  }
}

/** `<run id>:<line>`, the id of an event in the stream. */
export function placeText({ runId, line }: Place): string {
  return `${runId}:${line}`;
}

/** The place that an event id names, or null. */
export function parsePlace(text: string | undefined): Place | null {
  const [, runId, line] = /^(\d{8}-\d{6}-[\da-f]{4}):(\d{1,9})$/.exec(text ?? '') ?? [];
  return runId && line ? { runId, line: Number(line) } : null;
}
