import { request } from 'node:http';
import { onTestFinished } from 'vitest';

/** One server-sent event. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

/** A page's connection to a stream of server-sent events; closed when the test is over. */
export interface SseClient {
  /** Waits for the next event. */
  next(): Promise<ServerSentEvent>;
  close(): void;
}

/** Connects, as a browser does. */
export function sseClient(url: string, headers: Record<string, string>): SseClient {
  const sent: ServerSentEvent[] = [];
  const waiting: ((one: ServerSentEvent) => void)[] = [];
  const connection = request(url, { headers }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const one of blocks.map(parseEvent)) {
        const resolve = waiting.shift();
        if (resolve) resolve(one);
        else sent.push(one);
      }
    });
    response.on('error', () => undefined);
  });
  connection.on('error', () => undefined).end();
  onTestFinished(() => void connection.destroy());
  return {
    next: async () => sent.shift() ?? new Promise((resolve) => waiting.push(resolve)),
    close: () => void connection.destroy(),
  };
}

function parseEvent(block: string): ServerSentEvent {
  const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1] ?? null;
  return { event: field('event') ?? 'message', data: field('data') ?? '' };
}
