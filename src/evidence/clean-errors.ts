import type { TestError } from '../core/failure.js';
import { boundedText } from './bounded-text.js';
import { bounds } from './bounds.js';
import type { Shortfalls } from './shortfalls.js';

/** The errors as they may leave: cleaned, masked and bounded, the first ones where there are too many. */
export function cleanErrors(errors: readonly TestError[], shortfalls: Shortfalls): TestError[] {
  if (errors.length > bounds.errorCount) {
    shortfalls.cut(`${bounds.errorCount} of ${errors.length} errors were kept`);
  }
  return errors.slice(0, bounds.errorCount).map((error) => cleanError(error, shortfalls));
}

function cleanError(error: TestError, shortfalls: Shortfalls): TestError {
  return {
    message: boundedText(error.message, 'errorText', shortfalls),
    stack: error.stack === null ? null : boundedText(error.stack, 'errorText', shortfalls),
    snippet: error.snippet === null ? null : boundedText(error.snippet, 'snippet', shortfalls),
    location: error.location,
    causes: error.causes.slice(0, bounds.causeCount).map((cause) => boundedText(cause, 'cause', shortfalls)),
  };
}
