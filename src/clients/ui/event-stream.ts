import path from 'node:path';
import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { Clock } from '../../clock.js';
import { type Event, type StampedEvent, parseEvent } from '../../event.js';
import { loadRun } from '../../outputs/html/load-run.js';
import { html } from '../../outputs/html/markup.js';
import { renderRun } from '../../outputs/html/page.js';
import { readPicture } from '../../run/pictures.js';
import { relativePath } from '../../paths.js';
import { createReport } from '../../run/report.js';
import { findRunDir } from '../../run/run-folder.js';
import { type RunState, createEmptyRun, reduce } from '../../run/run-state.js';
import { createLineFollower } from '../../state-folder.js';
import { findLatestRunId } from '../../run/find-run.js';
import { eventsFile, transientEvents } from '../../run/event-log.js';
import { renderProgress } from './progress.js';

interface EventStreamOptions {
  readonly projectRoot: string;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** Ends every stream when aborted. */
  readonly closing: AbortSignal;
}

/** The interval between comments in the stream, which distinguish a quiet run from a lost connection. */
const HEARTBEAT_MS = 15_000;
/** The pause after an update, as a multiple of its drawing time, because a page with many causes must not slow down the run. */
const PAUSE_FACTOR = 4;

/**
 * Streams the newest run as server-sent events: the parts of the page that changed, as JSON; and `questions` when the pending questions may have
 * changed. A page that reconnects receives everything again.
 */
export function streamEvents(c: Context, { projectRoot, clock, closing }: EventStreamOptions): Response {
  const response = streamSSE(c, async (stream) => {
    const disconnection = new AbortController();
    stream.onAbort(() => disconnection.abort());
    const signal = AbortSignal.any([disconnection.signal, closing]);
    const heartbeat = setInterval(() => void stream.write(': still here\n\n'), HEARTBEAT_MS);
    try {
      for await (const update of followRuns({ projectRoot, signal, clock })) {
        const startedAt = clock.now();
        await stream.writeSSE({ data: JSON.stringify(await drawParts(projectRoot, update)) });
        if (update && hasEvent(update, (type) => questionEvents.includes(type)))
          await stream.writeSSE({ event: 'questions', data: '' });
        await clock.sleep(PAUSE_FACTOR * (clock.now() - startedAt), signal);
      }
    } finally {
      clearInterval(heartbeat);
    }
  });
  // hono sets its own value on streams.
  response.headers.set('Cache-Control', 'no-store');
  return response;
}

const questionEvents: readonly Event['type'][] = ['agent.waiting_for_input', 'agent.escalation_resolved'];

function hasEvent(update: RunUpdate, isMatch: (type: Event['type']) => boolean): boolean {
  return update.events.some(({ type }) => isMatch(type));
}

async function drawParts(projectRoot: string, update: RunUpdate | null): Promise<Parts> {
  if (update === null) return noRun;
  const result = hasEvent(update, (type) => !transientEvents.includes(type))
    ? await drawResult(projectRoot, update.run)
    : {};
  return { ...drawProgress(update.run), ...result };
}

/** The parts of the page as HTML, by the ids of the elements that they fill. */
type Parts = Readonly<Record<string, string>>;

/** The page while there is no run. */
const noRun: Parts = {
  now: '<p id="phase" role="status">No run yet. A run appears here as soon as self-heal run starts.</p>',
};

export function drawProgress(run: RunState): Parts {
  return {
    project: String(html`${run.project}`),
    'run-id': `run ${run.runId}`,
    now: String(renderProgress(run)),
  };
}

/** Draws the result of a run so far, as in its report.html but with screenshots as URLs. */
async function drawResult(projectRoot: string, run: RunState): Promise<Parts> {
  const dir = findRunDir(projectRoot, run.runId);
  const loaded = await loadRun(createReport(run), run, {
    dir,
    displayDir: relativePath(projectRoot, dir),
    pictureUrl: async (picture) =>
      readPicture(dir, picture) && `/runs/${run.runId}/failures/${picture.n}/${picture.name}`,
  });
  return { result: String(renderRun(loaded)) };
}

/** The newest run so far, and its events since the last update. */
interface RunUpdate {
  readonly run: RunState;
  readonly events: readonly StampedEvent[];
}

/** Polls files, because watching misses changes behind links, on network drives and in containers. */
const POLL_MS = 200;

/**
 * Yields the newest run, and again whenever it has written events; then each later run in the same way. Yields null while there is no run
 * yet. All events of a run come before the next run. Ends when the signal aborts.
 */
async function* followRuns(options: {
  readonly projectRoot: string;
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'sleep'>;
}): AsyncGenerator<RunUpdate | null, void> {
  const { projectRoot, signal, clock } = options;
  if ((await findLatestRunId(projectRoot)) === null) yield null;
  let run = createEmptyRun();
  let readNewLines = (): string[] => [];
  while (!signal.aborted) {
    // Checks this before reading, so that it yields all events of a run before the next run.
    const newest = await findLatestRunId(projectRoot);
    const events = readNewLines().flatMap((line) => parseEvent(line) ?? []);
    if (events.length > 0) {
      run = { ...events.reduce(reduce, run), runId: run.runId };
      yield { run, events };
    }
    if (newest !== null && newest !== run.runId) {
      run = createEmptyRun(newest);
      // A run is moved into the project when it ends, so its path may change.
      readNewLines = createLineFollower(() => path.join(findRunDir(projectRoot, newest), eventsFile));
      continue;
    }
    await clock.sleep(POLL_MS, signal);
  }
}
