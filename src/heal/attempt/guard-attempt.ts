import { testsOf } from '../../core/failure.js';
import type { Cause } from '../../core/cause.js';
import type { Deployment } from './deploy.js';
import type { SeenPage } from '../../guard/checks/locators.js';
import { harmless, type Findings } from '../../guard/findings.js';
import type { Session } from '../session.js';

/** Judges an agent's change before anything is run with it (HN-3, HN-4). */
export async function guardAttempt(
  session: Session,
  cause: Cause,
  { attempt, work }: Deployment,
): Promise<Findings> {
  const { agent, n } = attempt;
  if (!session.guard || agent === null || !work?.change) return harmless;
  const { before, after } = work;
  // Which files may be changed depends on what failed, not on which agent's turn it is.
  const { category } = cause.lead.diagnosis;
  const pages = cause.members.map(pageOf);
  const changes = work.change.edits.map((edit) => ({
    path: edit.path,
    kind: (edit.after ?? edit.before)?.kind ?? 'file',
  }));
  const healed = testsOf(cause.members).map(({ location }) => location.file);
  const findings = await session.guard({ category, changes, before, after, pages, healed });
  const { violations } = findings;
  if (violations.length > 0) {
    session.bus.emit({ type: 'attempt.rejected', causeId: cause.id, attempt: n, violations });
  }
  return findings;
}

/** Returns the page on which a test was red, as far as it was recorded. */
function pageOf({ failure, evidence }: Cause['lead']): SeenPage {
  return {
    ariaSnapshot: evidence.ariaSnapshot,
    errors: failure.errors.map((error) => error.message),
  };
}
