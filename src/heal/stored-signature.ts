import { createHash } from 'node:crypto';
import type { DiagnosedFailure } from '../model/cause.js';
import { type EvidenceSource, isDecisive } from '../model/diagnosis.js';
import { normalize } from '../diagnose/normalize.js';

/** Evidence in which an app or its server reports the error behind the test's own. */
const behindTheTest: ReadonlySet<EvidenceSource> = new Set(['server', 'console', 'network']);

/**
 * Returns the signature of a failure in the store. It includes the evidence that decided the diagnosis, because two tests may miss the same heading for
 * two different server errors. Within a run the plain signature counts, since a run without a trace has less evidence.
 */
export function storedSignature({
  signature,
  diagnosis,
}: Pick<DiagnosedFailure, 'signature' | 'diagnosis'>): string {
  const [decided] = diagnosis.why;
  if (!decided || !isDecisive(decided.confidence) || !behindTheTest.has(decided.source)) return signature;
  const both = `${signature}\n${decided.source}\n${normalize(decided.evidence)}`;
  const digits = createHash('md5').update(both).digest('hex').slice(0, 8);
  return signature.replace(/[^:]*$/, digits);
}
