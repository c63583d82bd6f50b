import { agentsFor } from './core/agents-for.js';
import type { Attempt } from './core/attempt.js';
import type { Cause } from './core/cause.js';
import { judge } from './core/judge.js';
import { decide, type Conclusion } from './core/policy.js';
import { unreachable } from './core/unreachable.js';
import { violationLine } from './core/guard/violation.js';
import { deploy, type Deployment } from './deploy.js';
import { guardAttempt } from './guard-attempt.js';
import { retest, type Retest } from './retest.js';
import type { Session } from './session.js';

/** How a cause ended. */
export interface HealedCause {
  readonly cause: Cause;
  readonly attempts: readonly Attempt[];
  readonly conclusion: Conclusion | { readonly verdict: 'escalated'; readonly reason: string };
  /** What the last re-run of the lead showed, or null where none was made. */
  readonly lastRetest: Retest | null;
}

/** The loop for one cause: asks the policy what is next, and does it, until the policy concludes. */
export async function healCause(session: Session, cause: Cause): Promise<HealedCause> {
  const attempts: Attempt[] = [];
  let lastRetest: Retest | null = null;
  let waited = true;
  session.bus.emit({ type: 'cause.started', causeId: cause.id });
  for (;;) {
    if (session.signal.aborted) return ended({ verdict: 'interrupted', reason: 'interrupted' });
    const decision = decide(historyOf(session, cause, { attempts, waited }), session.settings);
    switch (decision.kind) {
      case 'wait':
        await wait(session, cause, { delayMs: decision.delayMs, last: attempts.at(-1) });
        waited = true;
        break;
      case 'deploy':
      case 'retest': {
        const agent = decision.kind === 'deploy' ? decision.agent : null;
        const judged = await attempt(session, cause, { agent, n: decision.attempt, previous: attempts });
        attempts.push(judged.attempt);
        lastRetest = judged.retest;
        waited = false;
        break;
      }
      case 'escalate':
        session.bus.emit({ type: 'agent.waiting_for_input', causeId: cause.id, question: decision.question });
        return ended({ verdict: 'escalated', reason: decision.question });
      case 'conclude':
        return ended(decision.conclusion);
      default:
        return unreachable(decision);
    }
  }

  function ended(conclusion: HealedCause['conclusion']): HealedCause {
    return { cause, attempts, conclusion, lastRetest };
  }
}

function historyOf(session: Session, cause: Cause, so: { attempts: readonly Attempt[]; waited: boolean }) {
  return {
    ...so,
    retry: cause.lead.diagnosis.retry,
    environment: cause.environment,
    agents: agentsFor(cause.lead.diagnosis, session.settings.routes),
    spent: session.spending.spentFor(cause, session.clock.now()),
  };
}

async function wait(
  session: Session,
  cause: Cause,
  so: { delayMs: number; last: Attempt | undefined },
): Promise<void> {
  const reason = so.last?.failedBecause ?? 'the fix did not hold';
  const attempt = (so.last?.n ?? 0) + 1;
  session.bus.emit({ type: 'agent.retrying', causeId: cause.id, attempt, delayMs: so.delayMs, reason });
  await session.clock.sleep(so.delayMs, session.signal);
}

interface Try {
  /** Null runs the test again with the code as it is (HL-5). */
  agent: string | null;
  n: number;
  previous: readonly Attempt[];
}

interface JudgedAttempt {
  attempt: Attempt;
  retest: Retest | null;
}

/** One attempt: an agent (or none), the re-run that judges it, and the take-back of what did not hold. */
async function attempt(session: Session, cause: Cause, { agent, n, previous }: Try): Promise<JudgedAttempt> {
  const deployed = agent === null ? bareAttempt(n) : await deploy(session, { cause, agent, n, previous });
  const { outcome } = deployed.attempt;
  if (outcome === 'aborted' || outcome === 'unusable') {
    return announce(session, cause, { attempt: await takenBack(session, deployed), retest: null });
  }
  const violations = await guardAttempt(session, cause, deployed);
  if (violations.length > 0) {
    const rejected = {
      judged: 'rejected',
      failedBecause: `weakens the tests: ${violationLine(violations[0]!)}`,
      violations,
    } as const;
    return announce(session, cause, {
      attempt: { ...(await takenBack(session, deployed)), ...rejected },
      retest: null,
    });
  }
  const seen = await retest(session, { failures: [cause.lead], purpose: 'retest', causeId: cause.id });
  if (session.signal.aborted) {
    return announce(session, cause, { attempt: await takenBack(session, deployed), retest: null });
  }
  const { judgement, because } = judge(cause.lead, seen.observe(cause.lead));
  const held = judgement === 'green' || judgement === 'changed';
  const attempt = held ? deployed.attempt : await takenBack(session, deployed);
  const failedBecause = judgement === 'green' ? null : joined(attempt.failedBecause, because);
  return announce(session, cause, {
    attempt: { ...attempt, judged: judgement, failedBecause },
    retest: seen,
  });
}

function announce(session: Session, cause: Cause, judged: JudgedAttempt): JudgedAttempt {
  session.bus.emit({ type: 'attempt.judged', causeId: cause.id, attempt: judged.attempt });
  return judged;
}

function joined(...parts: readonly (string | null)[]): string | null {
  const told = parts.filter((part) => part !== null);
  return told.length > 0 ? told.join('; ') : null;
}

/** A fix that did not hold is taken back, so that the next attempt starts from the user's own code. */
async function takenBack(session: Session, { attempt, before, after }: Deployment): Promise<Attempt> {
  if (!session.workspace || before === null || after === null || attempt.files.length === 0) return attempt;
  const { leftAlone } = await session.workspace.takeBack(before, after);
  if (leftAlone.length > 0) {
    const message = `Left as they are, because they changed again after the agent: ${leftAlone.join(', ')}`;
    session.bus.emit({ type: 'run.warning', message });
  }
  return { ...attempt, takenBack: true };
}

function bareAttempt(n: number): Deployment {
  const attempt: Attempt = {
    n,
    agent: null,
    slashCommand: null,
    runner: null,
    outcome: 'no-agent',
    claim: null,
    usage: null,
    judged: 'not-judged',
    durationMs: 0,
    files: [],
    patch: null,
    takenBack: false,
    failedBecause: null,
  };
  return { attempt, before: null, after: null };
}
