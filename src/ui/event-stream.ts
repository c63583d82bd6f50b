import type { Context } from 'hono';
import { streamSSE, type SSEMessage } from 'hono/streaming';
import type { Clock } from '../clock.js';
import { unreachable } from '../core/unreachable.js';
import { followRuns, parsePlace, placeText, type Message } from './follow-runs.js';

/** What a stream of events is made from. */
export interface EventStreamOptions {
  readonly projectRoot: string;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Ends every stream. */
  readonly closing: AbortSignal;
}

/** So often something is sent, or proxies and sleeping machines are not told from a run that says nothing. */
const HEARTBEAT_MS = 15_000;

/** Server-sent events; `Last-Event-ID`, which browsers send when they reconnect, goes on where the page was. */
export function eventStream(c: Context, { projectRoot, clock, closing }: EventStreamOptions): Response {
  const after = parsePlace(c.req.header('last-event-id'));
  const response = streamSSE(c, async (stream) => {
    const gone = new AbortController();
    stream.onAbort(() => gone.abort());
    const signal = AbortSignal.any([gone.signal, closing]);
    const heartbeat = setInterval(() => void stream.write(': still here\n\n'), HEARTBEAT_MS);
    try {
      for await (const message of followRuns({ projectRoot, after, signal, clock })) {
        await stream.writeSSE(asSse(message));
      }
    } finally {
      clearInterval(heartbeat);
    }
  });
  // hono sets its own value on streams.
  response.headers.set('Cache-Control', 'no-store');
  return response;
}

function asSse(message: Message): SSEMessage {
  switch (message.kind) {
    case 'none':
      return { event: 'none', data: '' };
    case 'run':
      return { event: 'run', data: message.runId };
    case 'event':
      return { id: placeText(message.at), data: message.json };
    default:
      return unreachable(message);
  }
}
