import type { TestError } from '../core/failure.js';
import { boundedText, mapParts, type TextPart } from './bounded-text.js';
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
  const bounded = (text: string, part: TextPart) => boundedText(text, part, missing);
  const parts = { message: 'errorText', stack: 'errorText', snippet: 'snippet' } as const;
  return {
    ...mapParts(error, parts, bounded),
    causes: error.causes.slice(0, bounds.causeCount).map((cause) => bounded(cause, 'cause')),
  };
}
