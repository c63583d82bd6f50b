import { createHash } from 'node:crypto';
import type { DiagnosedFailure } from '../model/cause.js';
import { type EvidenceSource, isDecisive } from '../model/diagnosis.js';
import { normalise } from '../diagnose/normalise.js';

/** Where an app or its server says what went wrong behind the test's own error. */
const behindTheTest: ReadonlySet<EvidenceSource> = new Set(['server', 'console', 'network']);

/**
 * Returns the signature under which the store knows a failure. Two tests that miss the same heading may do so for two errors of a server, so what
 * decided the diagnosis belongs to it. Within a run the plain signature counts, since an untraced run sees less.
 */
export function rememberedAs({
  signature,
  diagnosis,
}: Pick<DiagnosedFailure, 'signature' | 'diagnosis'>): string {
  const [decided] = diagnosis.why;
  if (!decided || !isDecisive(decided.confidence) || !behindTheTest.has(decided.source)) return signature;
  const both = `${signature}\n${decided.source}\n${normalise(decided.evidence)}`;
  const digits = createHash('md5').update(both).digest('hex').slice(0, 8);
  return signature.replace(/[^:]*$/, digits);
}
