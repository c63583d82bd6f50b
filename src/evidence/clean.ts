import { visibleText } from '../core/visible-text.js';
import { redact } from '../secrets/redactor.js';
import type { TestError } from '../core/failure.js';
import { type TextPart, boundedText, mapParts, requestParts } from './bounded-text.js';
import { bounds } from './bounds.js';
import type { MissingEvidence } from './missing-evidence.js';
import type { NetworkEntry } from '../core/evidence.js';
import { isSecretHeader } from '../secrets/secret-fields.js';

/**
 * Makes text of unknown origin safe to keep and to show (EV-9, EV-10): removes terminal codes and invisible characters
 * and masks secrets that are recognizable in any environment. `Redactor.clean` also knows the secrets of the current
 * one. Idempotent.
 */
export function cleanText(text: string): string {
  return redact(visibleText(text));
}

/** Returns the errors cleaned, masked and bounded; if there are too many, only the first ones. */
export function cleanErrors(errors: readonly TestError[], missing: MissingEvidence): TestError[] {
  if (errors.length > bounds.errorCount) {
    missing.cut(`${bounds.errorCount} of ${errors.length} errors were kept`);
  }
  return errors.slice(0, bounds.errorCount).map((error) => cleanError(error, missing));
}

function cleanError(error: TestError, missing: MissingEvidence): TestError {
  const bounded = (text: string, part: TextPart) => boundedText(text, part, missing);
  const parts = { message: 'errorText', stack: 'errorText', snippet: 'snippet' } as const;
  return {
    ...mapParts(error, parts, bounded),
    causes: error.causes.slice(0, bounds.causeCount).map((cause) => bounded(cause, 'cause')),
  };
}

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
