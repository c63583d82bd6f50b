import type { Cause } from './core/cause.js';
import type { Observation } from './core/judge.js';
import type { Proof, ProofStep } from './core/proof.js';
import type { Deployment } from './deploy.js';
import { retest } from './retest.js';
import type { Session } from './session.js';

/** What came of trying to prove a fix whose first re-run was green. */
export type Proved =
  | { readonly kind: 'proven'; readonly steps: Proof }
  /** A further run was red: the first green was luck, or the fix does not always hold. */
  | { readonly kind: 'flaked'; readonly steps: Proof; readonly because: string }
  /** Green with the change taken out too: it was not the change. The change stays out. */
  | { readonly kind: 'not-needed'; readonly steps: Proof; readonly because: string }
  | { readonly kind: 'interrupted'; readonly steps: Proof };

/**
 * Proves a fix on the leading test (HN-5): green so often as `verify.repeat` says, then `verify.flips` times red with the change
 * taken out and green with it put back. Without git, or with a fix that changed no file, nothing can be taken out.
 */
export async function prove(session: Session, cause: Cause, deployed: Deployment): Promise<Proved> {
  const { repeat, flips } = session.settings.verify;
  const steps: ProofStep[] = [...reds(session), 'green'];
  for (let green = 1; green < repeat; green += 1) {
    const seen = await again(session, cause);
    if (session.signal.aborted) return { kind: 'interrupted', steps };
    steps.push(stepOf(seen));
    if (stepOf(seen) === 'red')
      return {
        kind: 'flaked',
        steps,
        because: `green at first, and red again in run ${green + 1} of ${repeat}`,
      };
  }
  for (let flip = 0; flip < flips; flip += 1) {
    const ended = await flipOnce(session, cause, { deployed, steps });
    if (ended) return ended;
  }
  return { kind: 'proven', steps };
}

/** The runs before: the first, and those that confirmed it. */
function reds({ settings }: Session): ProofStep[] {
  return Array.from({ length: 1 + settings.verify.confirm }, () => 'red' as const);
}

async function flipOnce(
  session: Session,
  cause: Cause,
  { deployed, steps }: { deployed: Deployment; steps: ProofStep[] },
): Promise<Proved | null> {
  const { before, after, attempt } = deployed;
  if (!session.workspace || before === null || after === null || attempt.files.length === 0) return null;
  await session.workspace.takeBack(before, after);
  const without = await again(session, cause);
  if (session.signal.aborted) return { kind: 'interrupted', steps };
  steps.push(stepOf(without));
  if (stepOf(without) === 'green')
    return { kind: 'not-needed', steps, because: 'green with the change taken out too: the test is flaky' };
  await session.workspace.takeBack(after, before);
  const back = await again(session, cause);
  if (session.signal.aborted) return { kind: 'interrupted', steps };
  steps.push(stepOf(back));
  return stepOf(back) === 'green'
    ? null
    : { kind: 'flaked', steps, because: 'red again when the change was put back' };
}

async function again(session: Session, cause: Cause): Promise<Observation> {
  const seen = await retest(session, { failures: [cause.lead], purpose: 'proof', causeId: cause.id });
  return seen.observe(cause.lead);
}

function stepOf({ ended, suiteFailure }: Observation): ProofStep {
  return ended === 'passed' && !suiteFailure ? 'green' : 'red';
}
