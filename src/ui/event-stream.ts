import type { Context } from 'hono';
import { streamSSE, type SSEMessage } from 'hono/streaming';
import type { Clock } from '../clock.js';
import { unreachable } from '../core/unreachable.js';
import { followRuns, type Message } from './follow-runs.js';

/** What a stream of events is made from. */
export interface EventStreamOptions {
  readonly projectRoot: string;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Ends every stream. */
  readonly closing: AbortSignal;
}

/** How often something is sent, so that a quiet run can be told from a proxy or a machine that has gone away. */
const HEARTBEAT_MS = 15_000;

/** Server-sent events. A page that reconnects is told the run from its first event again. */
export function eventStream(c: Context, { projectRoot, clock, closing }: EventStreamOptions): Response {
  const response = streamSSE(c, async (stream) => {
    const gone = new AbortController();
    stream.onAbort(() => gone.abort());
    const signal = AbortSignal.any([gone.signal, closing]);
    const heartbeat = setInterval(() => void stream.write(': still here\n\n'), HEARTBEAT_MS);
    try {
      for await (const message of followRuns({ projectRoot, signal, clock })) {
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
      return { data: message.json };
    default:
      return unreachable(message);
  }
}
