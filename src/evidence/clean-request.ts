import type { NetworkEntry } from '../core/evidence.js';
import { boundedText, mapParts, requestParts } from './bounded-text.js';
import { bounds } from './bounds.js';
import { isSecretHeader } from '../secrets/secret-fields.js';
import type { MissingEvidence } from './missing-evidence.js';

/** Returns a request cleaned, masked and bounded. */
export function cleanRequest(entry: NetworkEntry, missing: MissingEvidence): NetworkEntry {
  const bounded = {
    ...entry,
    requestHeaders: boundedHeaders(entry.requestHeaders, missing),
    responseHeaders: boundedHeaders(entry.responseHeaders, missing),
  };
  return mapParts(bounded, requestParts, (text, part, header = '') =>
    isSecretHeader(header) && text !== ''
      ? maskedHeader(header, text, missing)
      : boundedText(text, part, missing),
  );
}

function boundedHeaders(
  headers: NetworkEntry['requestHeaders'],
  missing: MissingEvidence,
): NetworkEntry['requestHeaders'] {
  const all = Object.entries(headers);
  if (all.length > bounds.headerCount) missing.cut(`a request had more than ${bounds.headerCount} headers`);
  return Object.fromEntries(all.slice(0, bounds.headerCount));
}

/** Reduces a header that carries credentials to its masks, which are the same wherever the same secret occurs. */
function maskedHeader(name: string, value: string, missing: MissingEvidence): string {
  const cleaned = boundedText(`${name}: ${value}`, 'headerValue', missing);
  return cleaned.match(/\[masked: [^\]\n]{1,80}\]/g)?.join(' ') ?? `[masked: value of ${name.toLowerCase()}]`;
}
