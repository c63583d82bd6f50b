import type { DiagnosedFailure } from '../model/cause.js';
import { isDecisive } from '../model/diagnosis.js';

/** Where an app, its server or its database says that something went wrong. */
const ofApp = new Set(['stack', 'console', 'server']);

/** Playwright's words for another status than the expected one, which is no failure of the server. */
const statuses = /^Expected: [1-5]\d\d$\s*^Received: [1-4]\d\d$/m;

/**
 * Whether only the test's own assertion decided what failed: no exception, no failed build, no error that a server or a database reports. Then a change
 * that its author meant looks like a fault, whatever the class (BL-6).
 */
export function isOwnAssertion({
  failure,
  diagnosis,
}: Pick<DiagnosedFailure, 'failure' | 'diagnosis'>): boolean {
  if (failure.scope === 'suite') return false;
  const { category, why } = diagnosis;
  // A server that refuses on purpose may log it; that is no fault of the server.
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
