import type { ConsoleMessage, WebError } from '@playwright/test';
import type { ConsoleEntry } from '../../core/evidence.js';
import { clip } from './clip.js';
import { now } from './now.js';

const maxText = 4 * 1024;
const maxStack = 8 * 1024;

/** Converts a message of the page's console. */
export function consoleEntry(message: ConsoleMessage): ConsoleEntry {
  const { url, lineNumber, columnNumber } = message.location();
  return {
    time: now(),
    type: message.type(),
    text: clip(message.text(), maxText),
    location: position(url, lineNumber, columnNumber),
    stack: null,
  };
}

/** Converts an uncaught error of the page; older versions of Playwright do not report its location. */
export function pageErrorEntry(webError: WebError): ConsoleEntry {
  const error: unknown = webError.error();
  const isError = error instanceof Error;
  const place = (webError as Partial<WebError>).location?.();
  return {
    time: now(),
    type: 'pageerror',
    text: clip(isError ? `${error.name}: ${error.message}` : String(error), maxText),
    location: place ? position(place.url, place.line, place.column) : '',
    stack: isError && error.stack ? clip(error.stack, maxStack) : null,
  };
}

/** Playwright counts lines and columns from 0, browsers and people from 1. */
function position(url: string, line: number, column: number): string {
  return url ? `${url}:${line + 1}:${column + 1}` : '';
}
