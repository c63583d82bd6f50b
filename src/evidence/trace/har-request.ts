import { z } from 'zod';
import type { NetworkEntry } from '../../model/evidence.js';
import { bounds } from '../bounded-text.js';
import { list, number, numberOrNull, record, text, textOrNull } from './loose.js';

/** A request of a trace, with the names of the zip entries that hold its bodies. */
export interface TraceRequest extends NetworkEntry {
  readonly requestBodyFile: string | null;
  readonly responseBodyFile: string | null;
}

/** The fields that locate a resource in the zip: trace formats 7 and 8 have its hash, later formats its name. */
const resourceFields = { _sha1: textOrNull, sha1: textOrNull, _file: textOrNull, file: textOrNull };

type ResourceFields = Readonly<Record<keyof typeof resourceFields, string | null>>;

function findEntryName({ _sha1, sha1, _file, file }: ResourceFields): string | null {
  const hash = _sha1 ?? sha1;
  return _file ?? file ?? (hash === null ? null : `resources/${hash}`);
}

/** The name of a resource's zip entry, or null. */
export const resourceFile = record(resourceFields).transform(findEntryName);

/** Header names are in lower case; the values of a repeated header, such as `Set-Cookie`, are joined by line feeds. */
const headers = list(record({ name: text, value: text })).transform((pairs) => {
  const values = new Map<string, string>();
  for (const { name, value } of pairs.slice(0, bounds.headerCount + 1)) {
    const key = name.toLowerCase();
    const before = values.get(key);
    values.set(key, before === undefined ? value : `${before}\n${value}`);
  }
  return Object.fromEntries(values);
});

/** The HAR entry of a `resource-snapshot` line; its shape is the same in trace formats 7 to 10. */
const harEntry = record({
  startedDateTime: text,
  time: numberOrNull,
  _resourceType: textOrNull,
  _wasFulfilled: z.unknown().optional(),
  _serviceWorkerRef: z.unknown().optional(),
  serverIPAddress: textOrNull,
  // The flag became a reference to the request's context in 1.63.
  _apiRequest: z.unknown().optional(),
  _apiRequestRef: z.unknown().optional(),
  request: record({ method: text, url: text, headers, postData: record({ text, ...resourceFields }) }),
  response: record({
    status: number,
    headers,
    _failureText: textOrNull,
    _transferSize: numberOrNull,
    content: resourceFile,
  }),
  timings: record({ receive: numberOrNull }),
});

/** Chromium's words for a server that answers a WebSocket handshake with a status of its own. */
const refusedHandshakePattern = /^Error during WebSocket handshake: Unexpected response code: ([1-5]\d\d)$/;

/** Reads the HAR entry of a `resource-snapshot` line. */
export function parseTraceRequest(snapshot: unknown): TraceRequest {
  const { request, response, timings, ...entry } = harEntry.parse(snapshot);
  const { url } = request;
  const isAnswered = response.status > 0;
  const refusedHandshake = refusedHandshakePattern.exec(response._failureText ?? '');
  return {
    time: Date.parse(entry.startedDateTime) || 0,
    method: request.method,
    url,
    resourceType:
      (entry._apiRequest ?? entry._apiRequestRef)
        ? 'api'
        : (entry._resourceType ?? guessResourceType(url, request.headers)),
    status: refusedHandshake ? Number(refusedHandshake[1]) : isAnswered ? response.status : null,
    // Since Playwright 1.63, requests without a response also have a time.
    durationMs: isAnswered && entry.time !== null && entry.time >= 0 ? Math.round(entry.time) : null,
    failure: refusedHandshake ? null : response._failureText,
    requestHeaders: request.headers,
    responseHeaders: response.headers,
    requestBody: request.postData.text || null,
    responseBody: null,
    ...(isAnswered ? readResponder(entry, response) : {}),
    ...(entry._serviceWorkerRef ? { isOfServiceWorker: true as const } : {}),
    ...(isAnswered && timings.receive === -1 ? { isOpen: true as const } : {}),
    requestBodyFile: findEntryName(request.postData),
    responseBodyFile: response.content,
  };
}

function readResponder(
  entry: Pick<z.infer<typeof harEntry>, '_wasFulfilled' | 'serverIPAddress'>,
  { _transferSize: sent }: { readonly _transferSize: number | null },
): Pick<NetworkEntry, 'answeredBy'> {
  if (entry._wasFulfilled) return { answeredBy: 'test' };
  return entry.serverIPAddress === null && sent === 0 ? { answeredBy: 'no-server' } : {};
}

const extensions: readonly (readonly [type: string, extension: RegExp])[] = [
  ['script', /\.m?js(?:[?#]|$)/i],
  ['stylesheet', /\.css(?:[?#]|$)/i],
  ['image', /\.(?:png|jpe?g|gif|svg|webp|ico)(?:[?#]|$)/i],
  ['font', /\.woff2?(?:[?#]|$)/i],
];

/**
 * Traces before 1.60 lack the resource's type, but browsers send it to the server (Fetch Metadata). A request without a response lacks those
 * headers, too.
 */
function guessResourceType(url: string, headers: Readonly<Record<string, string>>): string {
  const destination = headers['sec-fetch-dest'];
  if (destination !== undefined)
    return { empty: 'fetch', style: 'stylesheet', iframe: 'document' }[destination] ?? destination;
  if ('upgrade-insecure-requests' in headers) return 'document';
  return extensions.find(([, extension]) => extension.test(url))?.[0] ?? 'fetch';
}
