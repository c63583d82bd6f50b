import type { Cause } from './core/cause.js';
import type { Violation } from './core/guard/violation.js';
import type { Deployment } from './deploy.js';
import type { Session } from './session.js';

/** Judges what an agent did before anything is run with it (HN-3, HN-4): empty where nothing is wrong, or nothing changed. */
export async function guardAttempt(
  session: Session,
  cause: Cause,
  { attempt, work }: Deployment,
): Promise<readonly Violation[]> {
  const { agent, files, n } = attempt;
  if (!session.guard || agent === null || !work?.change) return [];
  const { before, after } = work;
  // What may be written hangs on what failed, not on whose turn it is.
  const { category } = cause.lead.diagnosis;
  const violations = await session.guard({ category, files, before, after });
  if (violations.length > 0) {
    session.bus.emit({ type: 'attempt.rejected', causeId: cause.id, attempt: n, violations });
  }
  return violations;
}
