import { internalCall } from './internal-call.js';
import { guarded } from './run-folder.js';
import type { Traffic } from './traffic.js';

interface Header {
  readonly name: string;
  readonly value: string;
}
/** The parameters of a request that a context passes to Playwright's server side. */
interface FetchParams {
  readonly url: string;
  readonly method?: string;
  readonly headers?: readonly Header[];
  /** JSON text; up to about 1.50, a value. */
  readonly jsonData?: unknown;
  readonly formData?: readonly Header[];
  readonly postData?: Buffer;
}
interface FetchedResponse {
  readonly fetchUid: string;
  readonly url: string;
  readonly status: number;
  readonly headers: readonly Header[];
}
/** The part of Playwright's private API that is used here; the names are the same from 1.50 to 1.65. */
interface ApiChannel {
  fetch(params: FetchParams, ...more: unknown[]): Promise<{ response: FetchedResponse }>;
  fetchResponseBody(params: { fetchUid: string }): Promise<{ binary?: Buffer }>;
}
interface ApiContext {
  _channel: ApiChannel;
}

/** Matches the error that `failOnStatusCode` throws: the status, and the body if it is included. */
const refused = /^(\d{3}) .*\n(?:Response text:\n([^]*))?/;

/**
 * Records the requests that tests send through an `APIRequestContext`. Hooks in below its public methods, so that errors
 * and steps stay the same. Returns a function that removes the hook.
 */
export function watchApiRequests(context: object, traffic: Traffic): () => void {
  const api = context as ApiContext;
  const channel = api._channel;
  const fetch: ApiChannel['fetch'] = async (params, ...more) => {
    const sent = guarded('a request of a test', () => traffic.sent(requestOf(params)));
    try {
      const fetched = await channel.fetch(params, ...more);
      guarded('a response to a test', () => sent?.answered(answerOf(api, channel, fetched.response)));
      return fetched;
    } catch (error) {
      guarded('a failed request of a test', () => {
        const message = error instanceof Error ? error.message : String(error);
        const [, status, body = ''] = refused.exec(message) ?? [];
        if (status)
          sent?.answered({ status: () => Number(status), headers: () => ({}), text: async () => body });
        else sent?.failed(message.split('\n', 1)[0] ?? '');
      });
      throw error;
    }
  };
  api._channel = new Proxy(channel, {
    get: (target, key) => (key === 'fetch' ? fetch : (Reflect.get(target, key) as unknown)),
  });
  return () => {
    api._channel = channel;
  };
}

function requestOf({ url, method = 'GET', headers, jsonData, formData, postData }: FetchParams) {
  const data = jsonData ?? formData ?? postData?.toString('utf8');
  return {
    url: () => url,
    method: () => method,
    resourceType: () => 'api',
    headers: () => byName(headers),
    postData: () => (data === undefined || typeof data === 'string' ? (data ?? null) : JSON.stringify(data)),
  };
}

function answerOf(api: ApiContext, channel: ApiChannel, { fetchUid, url, status, headers }: FetchedResponse) {
  return {
    url: () => url,
    status: () => status,
    headers: () => byName(headers),
    text: async () => {
      const { binary } = await internalCall(api, () => channel.fetchResponseBody({ fetchUid }));
      return binary?.toString('utf8') ?? '';
    },
  };
}

function byName(headers: readonly Header[] = []): Record<string, string> {
  return Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value]));
}
