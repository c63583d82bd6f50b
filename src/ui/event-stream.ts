import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { Clock } from '../clock.js';
import { followRuns } from './follow-runs.js';

/** What an event stream needs. */
export interface EventStreamOptions {
  readonly projectRoot: string;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Ends every stream when aborted. */
  readonly closing: AbortSignal;
}

/** How often a comment is sent, so that a quiet run can be told from a lost connection. */
const HEARTBEAT_MS = 15_000;

/** Streams server-sent events. A page that reconnects receives the run from its first event again. */
export function eventStream(c: Context, { projectRoot, clock, closing }: EventStreamOptions): Response {
  const response = streamSSE(c, async (stream) => {
    const gone = new AbortController();
    stream.onAbort(() => gone.abort());
    const signal = AbortSignal.any([gone.signal, closing]);
    const heartbeat = setInterval(() => void stream.write(': still here\n\n'), HEARTBEAT_MS);
    try {
      for await (const message of followRuns({ projectRoot, signal, clock })) await stream.writeSSE(message);
    } finally {
      clearInterval(heartbeat);
    }
  });
  // hono sets its own value on streams.
  response.headers.set('Cache-Control', 'no-store');
  return response;
}
