import { classFor } from './core/agents-for.js';
import type { Cause } from './core/cause.js';
import type { Violation } from './core/guard/violation.js';
import type { Deployment } from './deploy.js';
import type { SeenPage } from './guard/checks/locators.js';
import type { Session } from './session.js';

/** Judges what an agent did before anything is run with it (HN-3, HN-4): empty where nothing is wrong, or nothing changed. */
export async function guardAttempt(
  session: Session,
  cause: Cause,
  { attempt, before, after }: Deployment,
): Promise<readonly Violation[]> {
  const { agent, files, n } = attempt;
  if (!session.guard || agent === null || before === null || after === null || files.length === 0) return [];
  const category = classFor(agent, cause.lead.diagnosis, session.settings.routes);
  const pages = cause.members.map(pageOf);
  const { violations } = await session.guard({ category, files, before, after, pages });
  if (violations.length > 0) {
    session.bus.emit({ type: 'attempt.rejected', causeId: cause.id, attempt: n, violations });
  }
  return violations;
}

/** The page on which a test was red, as far as it was kept. */
function pageOf({ failure, evidence }: Cause['lead']): SeenPage {
  return {
    ariaSnapshot: evidence.ariaSnapshot,
    errors: failure.errors.map((error) => error.message),
  };
}
