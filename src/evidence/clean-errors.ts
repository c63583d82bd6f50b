import type { TestError } from '../core/failure.js';
import { boundedText } from './bounded-text.js';
import { bounds } from './bounds.js';
import type { MissingEvidence } from './missing-evidence.js';

/** Returns the errors cleaned, masked and bounded; if there are too many, only the first ones. */
export function cleanErrors(errors: readonly TestError[], missing: MissingEvidence): TestError[] {
  if (errors.length > bounds.errorCount) {
    missing.cut(`${bounds.errorCount} of ${errors.length} errors were kept`);
  }
  return errors.slice(0, bounds.errorCount).map((error) => cleanError(error, missing));
}

function cleanError(error: TestError, missing: MissingEvidence): TestError {
  return {
    message: boundedText(error.message, 'errorText', missing),
    stack: error.stack === null ? null : boundedText(error.stack, 'errorText', missing),
    snippet: error.snippet === null ? null : boundedText(error.snippet, 'snippet', missing),
    location: error.location,
    causes: error.causes.slice(0, bounds.causeCount).map((cause) => boundedText(cause, 'cause', missing)),
  };
}
