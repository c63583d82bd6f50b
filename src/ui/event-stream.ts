import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { Clock } from '../clock.js';
import type { Event } from '../event.js';
import { drawNow, drawResult, noRun, type Parts } from './draw-run.js';
import { followRuns, type News } from './follow-runs.js';

/** What an event stream needs. */
export interface EventStreamOptions {
  readonly projectRoot: string;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** Ends every stream when aborted. */
  readonly closing: AbortSignal;
}

/** How often a comment is sent, so that a quiet run can be told from a lost connection. */
const HEARTBEAT_MS = 15_000;
/** How long to wait after news, as a multiple of the time it took to draw them, so that a page with many causes does not slow down the run. */
const PAUSE = 4;

/**
 * Streams the newest run as server-sent events: the parts of the page that changed, as JSON; and `questions` when the pending questions may have
 * changed. A page that reconnects receives everything again.
 */
export function eventStream(c: Context, { projectRoot, clock, closing }: EventStreamOptions): Response {
  const response = streamSSE(c, async (stream) => {
    const gone = new AbortController();
    stream.onAbort(() => gone.abort());
    const signal = AbortSignal.any([gone.signal, closing]);
    const heartbeat = setInterval(() => void stream.write(': still here\n\n'), HEARTBEAT_MS);
    try {
      for await (const news of followRuns({ projectRoot, signal, clock })) {
        const startedAt = clock.now();
        await stream.writeSSE({ data: JSON.stringify(await partsOf(projectRoot, news)) });
        if (tells(news, questioning)) await stream.writeSSE({ event: 'questions', data: '' });
        await clock.sleep(PAUSE * (clock.now() - startedAt), signal);
      }
    } finally {
      clearInterval(heartbeat);
    }
  });
  // hono sets its own value on streams.
  response.headers.set('Cache-Control', 'no-store');
  return response;
}

const questioning: readonly Event['type'][] = ['agent.waiting_for_input', 'agent.escalation_resolved'];
/** These come by the dozen and say nothing about the result. */
const fleeting: readonly Event['type'][] = ['agent.activity', 'suite.progress'];

function tells(news: News | null, types: readonly Event['type'][], wanted = true): boolean {
  return news?.events.some(({ type }) => types.includes(type) === wanted) ?? false;
}

async function partsOf(projectRoot: string, news: News | null): Promise<Parts> {
  if (news === null) return noRun;
  const result = tells(news, fleeting, false) ? await drawResult(projectRoot, news.run) : {};
  return { ...drawNow(news.run), ...result };
}
