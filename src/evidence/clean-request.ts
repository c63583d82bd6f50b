import type { NetworkEntry } from '../core/evidence.js';
import { boundedText } from './bounded-text.js';
import { bounds } from './bounds.js';
import { isSecretHeader } from '../secrets/secret-name.js';
import type { Shortfalls } from './shortfalls.js';

/** A request as it may leave: cleaned, masked and bounded, with nothing in it that a `NetworkEntry` does not name. */
export function cleanRequest(entry: NetworkEntry, shortfalls: Shortfalls): NetworkEntry {
  return {
    time: entry.time,
    method: boundedText(entry.method, 'headerValue', shortfalls),
    url: boundedText(entry.url, 'url', shortfalls),
    resourceType: boundedText(entry.resourceType, 'headerValue', shortfalls),
    status: entry.status,
    durationMs: entry.durationMs,
    failure: entry.failure === null ? null : boundedText(entry.failure, 'headerValue', shortfalls),
    requestHeaders: cleanHeaders(entry.requestHeaders, shortfalls),
    responseHeaders: cleanHeaders(entry.responseHeaders, shortfalls),
    requestBody: entry.requestBody === null ? null : boundedText(entry.requestBody, 'body', shortfalls),
    responseBody: entry.responseBody === null ? null : boundedText(entry.responseBody, 'body', shortfalls),
  };
}

function cleanHeaders(
  headers: Readonly<Record<string, string>>,
  shortfalls: Shortfalls,
): Record<string, string> {
  const all = Object.entries(headers);
  if (all.length > bounds.headerCount)
    shortfalls.cut(`a request had more than ${bounds.headerCount} headers`);
  const some = Object.fromEntries(all.slice(0, bounds.headerCount));
  return Object.fromEntries(
    Object.entries(some).map(([name, value]) => [
      boundedText(name, 'headerValue', shortfalls),
      isSecretHeader(name) && value !== ''
        ? maskedHeader(name, value, shortfalls)
        : boundedText(value, 'headerValue', shortfalls),
    ]),
  );
}

/** Of a header that carries credentials only what its masks say, which is the same wherever the same secrets stand. */
function maskedHeader(name: string, value: string, shortfalls: Shortfalls): string {
  const cleaned = boundedText(`${name}: ${value}`, 'headerValue', shortfalls);
  return cleaned.match(/\[masked: [^\]\n]{1,80}\]/g)?.join(' ') ?? `[masked: value of ${name.toLowerCase()}]`;
}
