import type { NetworkEntry } from '../../core/evidence.js';
import { bounds } from '../bounded-text.js';
import { field, listOf, numberOr, stringOr } from '../unknown-fields.js';

/** A request of a trace, with the names of the zip entries that hold its bodies. */
export interface TraceRequest extends NetworkEntry {
  readonly requestBodyFile: string | null;
  readonly responseBodyFile: string | null;
}

/** Reads the HAR entry of a `resource-snapshot` line; the shape is the same in trace formats 7 to 10. */
export function traceRequestOf(snapshot: unknown): TraceRequest {
  const request = field(snapshot, 'request');
  const response = field(snapshot, 'response');
  const url = stringOr(field(request, 'url'), '');
  const requestHeaders = headersOf(field(request, 'headers'));
  const status = numberOr(field(response, 'status'), -1);
  const durationMs = numberOr(field(snapshot, 'time'), -1);
  return {
    time: Date.parse(stringOr(field(snapshot, 'startedDateTime'), '')) || 0,
    method: stringOr(field(request, 'method'), ''),
    url,
    // The flag became a reference to the request's context in 1.63.
    resourceType:
      (field(snapshot, '_apiRequest') ?? field(snapshot, '_apiRequestRef'))
        ? 'api'
        : stringOr(field(snapshot, '_resourceType'), resourceTypeOf(url, requestHeaders)),
    status: status > 0 ? status : null,
    // Since 1.63 a request without a response has a time, too.
    durationMs: status > 0 && durationMs >= 0 ? Math.round(durationMs) : null,
    failure: stringOr(field(response, '_failureText'), null),
    requestHeaders,
    responseHeaders: headersOf(field(response, 'headers')),
    requestBody: stringOr(field(field(request, 'postData'), 'text'), '') || null,
    responseBody: null,
    requestBodyFile: fileOf(field(request, 'postData')),
    responseBodyFile: fileOf(field(response, 'content')),
  };
}

/** Returns the name of a resource's zip entry. Formats 7 and 8 give its hash, later ones the name. */
export function fileOf(value: unknown): string | null {
  const hash = stringOr(field(value, '_sha1'), stringOr(field(value, 'sha1'), null));
  return stringOr(field(value, '_file'), stringOr(field(value, 'file'), hash && `resources/${hash}`));
}

function headersOf(value: unknown): Record<string, string> {
  const pairs = listOf(value).slice(0, bounds.headerCount + 1);
  return Object.fromEntries(
    pairs.map((pair) => [
      stringOr(field(pair, 'name'), '').toLowerCase(),
      stringOr(field(pair, 'value'), ''),
    ]),
  );
}

const typeOfExtension: Readonly<Record<string, string>> = {
  js: 'script',
  mjs: 'script',
  css: 'stylesheet',
  png: 'image',
  jpg: 'image',
  jpeg: 'image',
  gif: 'image',
  svg: 'image',
  webp: 'image',
  ico: 'image',
  woff: 'font',
  woff2: 'font',
};

/**
 * Traces before 1.60 do not contain the resource's type, but browsers send it to the server (Fetch Metadata). A request without an answer
 * lacks those headers, too.
 */
function resourceTypeOf(url: string, headers: Readonly<Record<string, string>>): string {
  const destination = headers['sec-fetch-dest'];
  if (destination !== undefined)
    return { empty: 'fetch', style: 'stylesheet', iframe: 'document' }[destination] ?? destination;
  if ('upgrade-insecure-requests' in headers) return 'document';
  const extension = /\.(\w{2,5})(?:[?#]|$)/.exec(url)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(typeOfExtension, extension) ? (typeOfExtension[extension] ?? '') : 'fetch';
}
