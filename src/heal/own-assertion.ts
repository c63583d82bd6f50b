import type { DiagnosedFailure } from '../model/cause.js';
import { isDecisive } from '../model/diagnosis.js';

/** Evidence in which an app, its server or its database reports an error. */
const appSources = new Set(['stack', 'console', 'server']);

/** Playwright's message for an unexpected status below 500, which is not a failure of the server. */
const unexpectedStatus = /^Expected: [1-5]\d\d$\s*^Received: [1-4]\d\d$/m;

/** A quoted value on a line that Playwright marks as expected or received. */
const printedValues = {
  expected: /^[ \t]*(?:Expected(?: \w+)?:|-)[^\n"]*"([^\n]*)"/gm,
  received: /^[ \t]*(?:Received(?: \w+)?:|\+)[^\n"]*"([^\n]*)"/gm,
};
/** JavaScript's text for a missing value, which no author means to show. */
const missingValue = /\bNaN\b|\bundefined\b|\[object \w+\]|\bInvalid Date\b/;

/** True if a received text shows a missing value, and no expected text does. */
function receivedMissingValue(message: string): boolean {
  const [values = ''] = message.split(/^[ \t]*Call log:/m, 1);
  const hasMissingValue = (pattern: RegExp) =>
    [...values.matchAll(pattern)].some(([, text = '']) => missingValue.test(text));
  return hasMissingValue(printedValues.received) && !hasMissingValue(printedValues.expected);
}

/**
 * True if only the test's own assertion failed, on something that an author may have meant: there is no exception, no missing value, no failed build, and no
 * error from a server or a database. An intended change to the app then looks like a fault (BL-6).
 */
export function isOwnAssertion({
  failure,
  diagnosis,
}: Pick<DiagnosedFailure, 'failure' | 'diagnosis'>): boolean {
  if (failure.scope === 'suite') return false;
  const { category, why } = diagnosis;
  if (failure.errors.some(({ message }) => receivedMissingValue(message))) return false;
  // A server may log that it rejects a request on purpose, which is not its failure.
  const isRejection = failure.errors.some(({ message }) => unexpectedStatus.test(message));
  const hasAppError =
    !isRejection &&
    why.some(
      ({ source, confidence, evidence }) =>
        isDecisive(confidence) &&
        (appSources.has(source) || (source === 'network' && !/→ [1-4]\d\d\b/.test(evidence))),
    );
  return (
    !hasAppError &&
    (category === 'ui-error' || failure.errors.some(({ message }) => /\bexpect\(/.test(message)))
  );
}
