import { createAttempt, reasonOfEnd } from '../model/attempt.js';
import { builtIn } from '../model/built-in.js';
import { findUnrefutedEnvironment, chooseRetryAxis } from '../model/cause.js';
import type { CauseEnd } from '../model/verdict.js';
import { unreachable } from '../unreachable.js';
import { ask, mayBeMeant, stillOpen } from './ask.js';
import { type Deployment, prepareAgent } from './attempt/deploy.js';
import { attemptTried, revertChanges, storeStart } from './attempt/end-attempt.js';
import { applyProposal } from './attempt/proposed.js';
import { guardFix, judgeFix, unapplied } from './attempt/try-fix.js';
import type { AttemptResult, CauseWork, Fix } from './cause-work.js';
import type { ProposedFix } from './hooks.js';
import { agentsFor, decideNextStep, type NextStep, type CauseHistory } from './policy.js';
import { mayStartMoreWork } from './progress.js';
import type { Schedule } from './schedule.js';
import type { Session } from './session.js';

/**
 * Runs the loop for one cause: asks the policy for the next step and takes it, until the policy ends it. `healed` here means green in
 * one re-run; the proof is shared with other causes and comes later (HN-5).
 */
export async function healCause(schedule: Schedule, work: CauseWork): Promise<void> {
  const { session } = schedule.progress;
  const { known, attempts } = work;
  const causeId = work.cause.id;
  const isNew = attempts.length === 0;
  session.bus.emit({ type: 'cause.started', causeId });
  if (known.open && isNew) work.end = stillOpen(session, work.cause, known.open);
  else if (known.fix && isNew) session.bus.emit({ type: 'cause.came_back', causeId, fix: known.fix });
  while (work.end === null) {
    work.cause = schedule.informed(work.cause);
    await carryOut(schedule, work, nextStep(schedule, work));
  }
}

function nextStep({ progress }: Schedule, work: CauseWork): NextStep {
  const { session } = progress;
  if (work.signal.aborted) return interrupted('interrupted');
  const decision = decideNextStep(historyOf(session, work), session.settings);
  const isEnd = decision.kind === 'end' || decision.kind === 'escalate';
  return isEnd || mayStartMoreWork(progress) ? decision : interrupted('healing stopped before its next try');
}

function interrupted(reason: string): NextStep {
  return { kind: 'end', end: { verdict: 'interrupted', reason } };
}

function historyOf(
  session: Session,
  { cause, known, attempts, waited, mayPropose }: CauseWork,
): CauseHistory {
  const { routes, agents: settings } = session.settings;
  const chosen = known.decision?.chosen ?? null;
  const routed = agentsFor(cause.lead, routes);
  const { proposers = [], noAgents } = session.hooks;
  const without = chosen ? 'only the patch that a person has chosen was tried' : noAgents;
  const agents = without === undefined ? routed.filter((name) => settings[name]?.runner !== builtIn) : [];
  const isFixing = session.settings.fixer !== 'none';
  const noAgent =
    without ??
    `${isFixing ? 'the built-in fixer found no fix it is sure of, and ' : ''}no agent program is set up`;
  return {
    attempts,
    waited,
    earlier: known.tries,
    // A failure that is left to people is not for them, either.
    mayPropose: mayPropose && (chosen !== null || (proposers.length > 0 && routed.length > 0)),
    ...(routed.length > 0 && agents.length === 0 ? { noAgent } : {}),
    retry: chooseRetryAxis(cause),
    environment: findUnrefutedEnvironment(cause),
    agents,
    spent: session.spending.spentFor(cause, session.clock.now()),
  };
}

async function carryOut(schedule: Schedule, work: CauseWork, decision: NextStep): Promise<void> {
  const { session } = schedule.progress;
  switch (decision.kind) {
    case 'wait':
      return wait(schedule, work, decision.delayMs);
    case 'propose': {
      const proposal = await work.proposals.next();
      if (proposal.done) work.mayPropose = false;
      else await propose(schedule, work, { n: decision.attempt, proposal: proposal.value });
      return;
    }
    case 'retest':
      return retestUnchanged(schedule, work, decision.attempt);
    case 'deploy': {
      const reason = session.missingAgents?.get(decision.agent);
      if (reason === undefined) return deploy(schedule, work, decision);
      work.end = { verdict: 'agent-unusable', reason };
      return;
    }
    case 'escalate':
      if (await isRefuted(schedule, work, decision)) return;
      work.end = await ask(session, work, decision.question);
      return;
    case 'end':
      if (decision.end.environment && (await isRefuted(schedule, work, decision))) return;
      work.end = await endOf(schedule, work, decision.end);
      return;
    default:
      return unreachable(decision);
  }
}

/** Brings the search for the change that broke a cause to its end; returns whether the policy now decides otherwise (HL-7). */
async function isRefuted(schedule: Schedule, work: CauseWork, { kind }: NextStep): Promise<boolean> {
  work.cause = await schedule.explained(work.cause);
  const next = nextStep(schedule, work);
  return next.kind !== kind && next.kind !== 'end';
}

/** A cause that nobody healed may be a change that its author meant, which a person is asked about. */
async function endOf(schedule: Schedule, work: CauseWork, end: CauseEnd): Promise<CauseEnd> {
  const { session } = schedule.progress;
  if (end.verdict !== 'failed' || end.overBudget) return end;
  work.cause = await schedule.explained(work.cause);
  if (!(await mayBeMeant(session, work))) return end;
  return ask(session, work, `${end.reason}: is the new behavior right?`);
}

async function wait(schedule: Schedule, work: CauseWork, delayMs: number): Promise<void> {
  const { bus, clock } = schedule.progress.session;
  const last = work.attempts.at(-1);
  const reason = (last && reasonOfEnd(last)) ?? 'the fix did not hold';
  const attempt = (last?.n ?? 0) + 1;
  bus.emit({ type: 'agent.retrying', causeId: work.cause.id, attempt, delayMs, reason });
  await schedule.pause(() => clock.sleep(delayMs, work.signal));
  work.waited = true;
}

/** Tries a fix that needs no agent. */
async function propose(
  schedule: Schedule,
  work: CauseWork,
  { n, proposal }: { readonly n: number; readonly proposal: ProposedFix },
): Promise<void> {
  const { session } = schedule.progress;
  work.attemptId = await storeStart(session, work.cause, { n, agent: proposal.agent, runner: builtIn });
  const deployment = await applyProposal(session, { proposal, causeId: work.cause.id, n });
  await judge(schedule, work, await guard(session, work, deployment));
}

/** Re-runs the tests with the code unchanged (HL-5). */
async function retestUnchanged(schedule: Schedule, work: CauseWork, n: number): Promise<void> {
  const { session } = schedule.progress;
  work.attemptId = await storeStart(session, work.cause, { n, agent: null, runner: null });
  const deployment = { pending: createAttempt(n), work: null, end: null, because: null };
  await judge(schedule, work, await guard(session, work, deployment));
}

/**
 * Lets an agent work, without the tree, and judges what it made with it. By the time that an agent is free, others may have used up what is left, so
 * that the policy is asked again; while agents at work may do so, waits for one to end.
 */
async function deploy(
  schedule: Schedule,
  work: CauseWork,
  { agent, attempt: n }: Extract<NextStep, { kind: 'deploy' }>,
): Promise<void> {
  const { session } = schedule.progress;
  const { settings, spending } = session;
  const isStillNext = () => {
    const decision = nextStep(schedule, work);
    return decision.kind === 'deploy' && decision.agent === agent;
  };
  const fix = await schedule.withAgent(work, async (copy) => {
    const finish = await schedule.startInTurn(async () => {
      work.cause = schedule.informed(work.cause);
      while (isStillNext() && !spending.mayStart(settings.limits)) await spending.nextEnd();
      if (!isStillNext()) return null;
      work.attemptId = await storeStart(session, work.cause, {
        n,
        agent,
        runner: settings.agents[agent]?.runner ?? null,
      });
      const { cause, attempts: previous, chain, known } = work;
      const request = { cause, agent, n, previous, chain, known };
      return schedule.inCopy(work, copy, (slot) => prepareAgent(session, request, slot));
    });
    if (finish === null) return null;
    void schedule.searchOn();
    return guard(session, work, await finish());
  });
  if (fix) await judge(schedule, work, fix);
  schedule.endTrial(work);
}

/** Lets the guard judge what was made. What it lets in is ready to be tried as soon as the tree is free. */
async function guard(
  session: Session,
  work: CauseWork,
  deployment: Deployment,
): Promise<Fix | AttemptResult> {
  const fix = await guardFix(session, work, deployment);
  work.fix = 'attempt' in fix || work.signal.aborted || !fix.change ? null : fix;
  return fix;
}

/** Judges a fix, unless its attempt has ended or was stopped, and keeps the result. */
async function judge(schedule: Schedule, work: CauseWork, fix: Fix | AttemptResult): Promise<void> {
  const { session } = schedule.progress;
  const result =
    'attempt' in fix ? fix : await (work.signal.aborted ? stopped : judgeFix)(schedule, work, fix);
  await attemptTried(session, { cause: work.cause, id: work.attemptId, attempt: result.attempt });
  work.attempts = [...work.attempts, result.attempt];
  work.lastRetest = result.retest;
  work.waited = false;
}

async function stopped({ progress }: Schedule, work: CauseWork, { pending }: Fix): Promise<AttemptResult> {
  const { shared } = work;
  [work.fix, work.shared] = [null, null];
  if (shared) await revertChanges(progress.session, [shared.change.id]);
  const { reason } = work.signal;
  return unapplied(pending, {
    kind: 'interrupted',
    because: typeof reason === 'string' ? reason : 'interrupted',
  });
}
