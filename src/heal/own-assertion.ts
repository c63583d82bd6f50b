import type { DiagnosedFailure } from '../model/cause.js';
import { isDecisive } from '../model/diagnosis.js';

/** Evidence in which an app, its server or its database reports an error. */
const ofApp = new Set(['stack', 'console', 'server']);

/** Playwright's message for an unexpected status below 500, which is not a failure of the server. */
const statuses = /^Expected: [1-5]\d\d$\s*^Received: [1-4]\d\d$/m;

/**
 * True if only the test's own assertion failed, without an exception, a failed build, or an error from a server or a database. An intended change of the
 * app then looks like a fault (BL-6).
 */
export function isOwnAssertion({
  failure,
  diagnosis,
}: Pick<DiagnosedFailure, 'failure' | 'diagnosis'>): boolean {
  if (failure.scope === 'suite') return false;
  const { category, why } = diagnosis;
  // A server may log that it rejects a request on purpose, which is not its failure.
  const isAnswer = failure.errors.some(({ message }) => statuses.test(message));
  const isReported =
    !isAnswer &&
    why.some(
      ({ source, confidence, evidence }) =>
        isDecisive(confidence) &&
        (ofApp.has(source) || (source === 'network' && !/→ [1-4]\d\d\b/.test(evidence))),
    );
  return (
    !isReported &&
    (category === 'ui-error' || failure.errors.some(({ message }) => /\bexpect\(/.test(message)))
  );
}
