import type { NetworkEntry } from '../core/evidence.js';
import { boundedText, mapParts, requestParts } from './bounded-text.js';
import { bounds } from './bounds.js';
import { isSecretHeader } from '../secrets/secret-name.js';
import type { MissingEvidence } from './missing-evidence.js';

/** Returns a request cleaned, masked and bounded. */
export function cleanRequest(entry: NetworkEntry, missing: MissingEvidence): NetworkEntry {
  return {
    ...mapParts(entry, requestParts, (text, part) => boundedText(text, part, missing)),
    requestHeaders: cleanHeaders(entry.requestHeaders, missing),
    responseHeaders: cleanHeaders(entry.responseHeaders, missing),
  };
}

function cleanHeaders(
  headers: Readonly<Record<string, string>>,
  missing: MissingEvidence,
): Record<string, string> {
  const all = Object.entries(headers);
  if (all.length > bounds.headerCount) missing.cut(`a request had more than ${bounds.headerCount} headers`);
  const some = Object.fromEntries(all.slice(0, bounds.headerCount));
  return Object.fromEntries(
    Object.entries(some).map(([name, value]) => [
      boundedText(name, 'headerValue', missing),
      isSecretHeader(name) && value !== ''
        ? maskedHeader(name, value, missing)
        : boundedText(value, 'headerValue', missing),
    ]),
  );
}

/** Reduces a header that carries credentials to its masks, which are the same wherever the same secret occurs. */
function maskedHeader(name: string, value: string, missing: MissingEvidence): string {
  const cleaned = boundedText(`${name}: ${value}`, 'headerValue', missing);
  return cleaned.match(/\[masked: [^\]\n]{1,80}\]/g)?.join(' ') ?? `[masked: value of ${name.toLowerCase()}]`;
}
