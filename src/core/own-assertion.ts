import type { DiagnosedFailure } from './cause.js';
import { isDecisive } from './diagnosis.js';

/** Where an app, its server or its database says that something went wrong. */
const ofApp = new Set(['stack', 'console', 'server']);

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
  const isReported = why.some(
    ({ source, confidence, evidence }) =>
      isDecisive(confidence) &&
      (ofApp.has(source) || (source === 'network' && !/→ [1-4]\d\d\b/.test(evidence))),
  );
  return (
    !isReported &&
    (category === 'ui-error' || failure.errors.some(({ message }) => /\bexpect\(/.test(message)))
  );
}
