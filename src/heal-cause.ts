import { agentsFor } from './core/agents-for.js';
import type { Attempt } from './core/attempt.js';
import type { Cause } from './core/cause.js';
import { headlineOf, judge, type Judged, type Observation } from './core/judge.js';
import { questionAbout, type Escalation } from './core/escalation.js';
import { decide, type Conclusion } from './core/policy.js';
import type { EarlierTries } from './core/remembered.js';
import { unreachable } from './core/unreachable.js';
import { deploy, type Deployment } from './deploy.js';
import { prove, type Proved } from './prove.js';
import { retest, type Retest } from './retest.js';
import type { Session } from './session.js';
import type { Memory } from './store/ledger.js';

/** How a cause ended. */
export interface HealedCause {
  readonly cause: Cause;
  readonly attempts: readonly Attempt[];
  readonly conclusion: Conclusion | Asked;
  /** What the last re-run of the lead showed, or null where none was made. */
  readonly lastRetest: Retest | null;
}

/** A question to a person; its id is null where the store did not take it. */
export interface Asked {
  readonly verdict: 'escalated';
  readonly reason: string;
  readonly escalationId: string | null;
  /** An earlier run asked it, and nobody has answered yet (ME-6). */
  readonly askedBefore: boolean;
}

/**
 * The loop for one cause: asks the policy what is next, and does it, until the policy concludes. `earlier` are the signatures that
 * the same tests have had before in this run: to come back to one is no progress (HN-9).
 */
export async function healCause(
  session: Session,
  cause: Cause,
  earlier: ReadonlySet<string> = new Set(),
): Promise<HealedCause> {
  const attempts: Attempt[] = [];
  let lastRetest: Retest | null = null;
  let waited = true;
  session.bus.emit({ type: 'cause.started', causeId: cause.id });
  const known = await session.memory.meet(cause.lead.signature);
  if (known.open) return ended(stillOpen(session, cause, known.open));
  if (known.fix) session.bus.emit({ type: 'cause.came_back', causeId: cause.id, fix: known.fix });
  for (;;) {
    if (session.signal.aborted) return ended({ verdict: 'interrupted', reason: 'interrupted' });
    const decision = decide(
      historyOf(session, cause, { attempts, waited, earlier: known.tries }),
      session.settings,
    );
    switch (decision.kind) {
      case 'wait':
        await wait(session, cause, { delayMs: decision.delayMs, last: attempts.at(-1) });
        waited = true;
        break;
      case 'deploy':
      case 'retest': {
        const agent = decision.kind === 'deploy' ? decision.agent : null;
        const judged = await attempt(session, cause, {
          agent,
          n: decision.attempt,
          previous: attempts,
          earlier,
          known,
        });
        await session.running.decided();
        attempts.push(judged.attempt);
        lastRetest = judged.retest;
        waited = false;
        break;
      }
      case 'escalate':
        return ended(await ask(session, cause, { question: decision.question, attempts, known }));
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

interface Asking {
  question: string;
  attempts: readonly Attempt[];
  known: Memory;
}

/** Writes a question down for a person; the run goes on with other causes (ME-6). */
async function ask(session: Session, cause: Cause, { question, attempts, known }: Asking): Promise<Asked> {
  const asked = attempts.at(-1)?.claim?.status === 'needs-person' ? question : null;
  const tried = [...known.tried, ...attempts];
  const escalation = await session.memory.escalate(questionAbout(cause, { attempts: tried, asked }));
  const escalationId = escalation?.id ?? null;
  session.bus.emit({ type: 'agent.waiting_for_input', causeId: cause.id, question, escalationId });
  return { verdict: 'escalated', reason: question, escalationId, askedBefore: false };
}

/** A question of an earlier run that nobody has answered: said again, and no agent is paid (ME-6). */
function stillOpen(session: Session, cause: Cause, { id, createdAt, problem }: Escalation): Asked {
  const question = `It waits for an answer since ${createdAt.slice(0, 10)}: ${problem}`;
  session.bus.emit({ type: 'agent.waiting_for_input', causeId: cause.id, question, escalationId: id });
  return { verdict: 'escalated', reason: question, escalationId: id, askedBefore: true };
}

interface SoFar {
  attempts: readonly Attempt[];
  waited: boolean;
  earlier: EarlierTries;
}

function historyOf(session: Session, cause: Cause, so: SoFar) {
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
  earlier: ReadonlySet<string>;
  known: Memory;
}

interface JudgedAttempt {
  attempt: Attempt;
  retest: Retest | null;
}

/** One attempt: an agent (or none), the re-run that judges it, and the take-back of what did not hold. */
async function attempt(session: Session, cause: Cause, work: Try): Promise<JudgedAttempt> {
  const { agent, n } = work;
  const { signature } = cause.lead;
  const id = await session.memory.attemptStarted({ causeId: cause.id, signature, n, agent });
  const judged = await judgedAttempt(session, cause, work);
  await session.memory.attemptFinished(id, judged.attempt);
  session.bus.emit({ type: 'attempt.judged', causeId: cause.id, attempt: judged.attempt });
  return judged;
}

async function judgedAttempt(session: Session, cause: Cause, work: Try): Promise<JudgedAttempt> {
  const { agent, n, previous, earlier, known } = work;
  const deployed =
    agent === null ? bareAttempt(n) : await deploy(session, { cause, agent, n, previous, known });
  const { outcome } = deployed.attempt;
  if (outcome === 'aborted' || outcome === 'unusable') {
    return { attempt: await takenBack(session, deployed), retest: null };
  }
  const seen = await retest(session, { failures: [cause.lead], purpose: 'retest', causeId: cause.id });
  if (session.signal.aborted) {
    return { attempt: await takenBack(session, deployed), retest: null };
  }
  const judged = withoutLoop(judge(cause.lead, seen.observe(cause.lead)), seen.observe(cause.lead), earlier);
  if (judged.judgement === 'green') return judgeGreen(session, cause, { deployed, retest: seen });
  const held = judged.judgement === 'changed';
  const attempt = held ? deployed.attempt : await takenBack(session, deployed);
  const failedBecause = joined(attempt.failedBecause, judged.because);
  return { attempt: { ...attempt, judged: judged.judgement, failedBecause }, retest: seen };
}

/** An error that the same test had before, and an agent had mended: A, B, A is a loop, not progress (HN-9). */
function withoutLoop(judged: Judged, seen: Observation, earlier: ReadonlySet<string>): Judged {
  const now = seen.failure ?? seen.suiteFailure;
  if (judged.judgement !== 'changed' || !now || !earlier.has(now.signature)) return judged;
  return {
    judgement: 'still-failing',
    because: `an error that was mended before came back: ${headlineOf(now)}`,
  };
}

/** One green run proves nothing (HN-5): it is repeated, and the change taken out and put back. */
async function judgeGreen(
  session: Session,
  cause: Cause,
  { deployed, retest }: { deployed: Deployment; retest: Retest },
): Promise<JudgedAttempt> {
  const proved = await prove(session, cause, deployed);
  if (proved.kind === 'interrupted') return { attempt: await takenBack(session, deployed), retest: null };
  const { judged, failedBecause } = judgementOf(proved, deployed.attempt, session.workspace !== null);
  const attempt = judged === 'green' ? deployed.attempt : await takenBack(session, deployed);
  return {
    attempt: { ...attempt, judged, failedBecause, proof: proved.steps },
    retest: judged === 'still-failing' ? null : retest,
  };
}

/** Who changed nothing has healed nothing, however green the test is now. Without git nobody can tell. */
function judgementOf(
  proved: Exclude<Proved, { kind: 'interrupted' }>,
  { agent, files }: Attempt,
  seesFiles: boolean,
): Pick<Attempt, 'judged' | 'failedBecause'> {
  if (proved.kind === 'flaked') return { judged: 'still-failing', failedBecause: proved.because };
  if (proved.kind === 'not-needed') return { judged: 'flaky', failedBecause: proved.because };
  if (agent === null)
    return { judged: 'flaky', failedBecause: 'green when it was run again with the code as it is' };
  if (seesFiles && files.length === 0)
    return {
      judged: 'flaky',
      failedBecause: 'green after an agent that changed no file: flaky, or mended outside the project',
    };
  return { judged: 'green', failedBecause: null };
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
    prompt: null,
    checkpoints: null,
    proof: [],
    takenBack: false,
    failedBecause: null,
  };
  return { attempt, before: null, after: null };
}
