import { getEndReason } from '../model/attempt.js';
import { builtIn } from '../model/built-in.js';
import { explainWhyNoAgentHelps, chooseRetryAxis } from '../model/cause.js';
import type { CauseEnd } from '../model/verdict.js';
import { unreachable } from '../unreachable.js';
import { askPerson, mayBeIntended, repeatOpenQuestion } from './ask.js';
import {
  applyTrial,
  endJudgedAttempt,
  guardTrial,
  isReady,
  judgeAlone,
  prepareAgent,
  stopTrial,
  tryTogether,
  tryWholeChange,
} from './attempt/attempt.js';
import { applyProposal } from './attempt/proposed.js';
import {
  toAttempt,
  recordTriedAttempt,
  endWithoutRun,
  isGreenWithOthers,
  startTrial,
  type Trial,
} from './attempt/trial.js';
import type { CauseWork } from './cause-work.js';
import type { ProposedFix } from './hooks.js';
import { listAgentsForFailure, decideNextStep, type NextStep, type CauseHistory } from './policy.js';
import { mayStartMoreWork } from './progress.js';
import type { Schedule } from './schedule.js';
import type { Session } from './session.js';

/**
 * Heals one cause: carries out the policy's next step until the policy ends the cause. `healed` here means green in one re-run; the proof comes
 * later and is shared with other causes (HN-5).
 */
export async function healCause(schedule: Schedule, work: CauseWork): Promise<void> {
  const { session } = schedule.progress;
  const { memory, attempts } = work;
  const causeId = work.cause.id;
  const isNew = attempts.length === 0;
  session.bus.emit({ type: 'cause.started', causeId });
  if (memory.openEscalation && isNew)
    work.end = repeatOpenQuestion(session, work.cause, memory.openEscalation);
  else if (memory.fix && isNew) session.bus.emit({ type: 'cause.came_back', causeId, fix: memory.fix });
  while (work.end === null) {
    work.cause = schedule.addFoundBlame(work.cause);
    await executeStep(schedule, work, chooseNextStep(schedule, work));
  }
}

function chooseNextStep({ progress }: Schedule, work: CauseWork): NextStep {
  const { session } = progress;
  if (work.signal.aborted) return endInterrupted('interrupted');
  const decision = decideNextStep(createHistory(session, work), session.settings);
  const isEnd = decision.kind === 'end' || decision.kind === 'escalate';
  return isEnd || mayStartMoreWork(progress)
    ? decision
    : endInterrupted('healing stopped before its next try');
}

function endInterrupted(reason: string): NextStep {
  return { kind: 'end', end: { verdict: 'interrupted', reason } };
}

function createHistory(
  session: Session,
  { cause, memory, attempts, hasWaited, hasProposals }: CauseWork,
): CauseHistory {
  const { routes, agents: settings } = session.settings;
  const chosen = memory.decision?.chosen ?? null;
  const routed = listAgentsForFailure(cause.lead, routes);
  const { proposers = [], noAgents } = session.hooks;
  const whyNoAgent = chosen ? 'only the patch that a person has chosen was tried' : noAgents;
  const agents = whyNoAgent === undefined ? routed.filter((name) => settings[name]?.runner !== builtIn) : [];
  const isFixing = session.settings.fixer !== 'none';
  const noAgent =
    whyNoAgent ??
    `${isFixing ? 'the built-in fixer found no fix it is sure of, and ' : ''}no agent program is set up`;
  return {
    attempts,
    hasWaited,
    earlier: memory.tries,
    // A failure without a route is not offered to proposers either, unless a person chose a patch.
    hasProposals: hasProposals && (chosen !== null || (proposers.length > 0 && routed.length > 0)),
    ...(routed.length > 0 && agents.length === 0 ? { noAgent } : {}),
    retry: chooseRetryAxis(cause),
    environment: explainWhyNoAgentHelps(cause),
    agents,
    spent: session.spending.getSpent(cause, session.clock.now()),
  };
}

async function executeStep(schedule: Schedule, work: CauseWork, decision: NextStep): Promise<void> {
  const { session } = schedule.progress;
  switch (decision.kind) {
    case 'wait':
      return waitBeforeRetry(schedule, work, decision.delayMs);
    case 'propose': {
      const proposal = await work.proposals.next();
      if (proposal.done) work.hasProposals = false;
      else await tryProposal(schedule, work, { n: decision.attempt, proposal: proposal.value });
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
      if (await checkNewDecision(schedule, work, decision)) return;
      work.end = await askPerson(session, work, decision.question);
      return;
    case 'end':
      if (decision.end.environment && (await checkNewDecision(schedule, work, decision))) return;
      work.end = await endOrAsk(schedule, work, decision.end);
      return;
    default:
      return unreachable(decision);
  }
}

/** Finishes the search for the change that broke a cause; returns true if the policy then decides otherwise (HL-7). */
async function checkNewDecision(schedule: Schedule, work: CauseWork, { kind }: NextStep): Promise<boolean> {
  work.cause = await schedule.finishBlameSearch(work.cause);
  const next = chooseNextStep(schedule, work);
  return next.kind !== kind && next.kind !== 'end';
}

/** Ends a cause, or asks a person if it failed and may be an intended change. */
async function endOrAsk(schedule: Schedule, work: CauseWork, end: CauseEnd): Promise<CauseEnd> {
  const { session } = schedule.progress;
  if (end.verdict !== 'failed' || end.overBudget) return end;
  work.cause = await schedule.finishBlameSearch(work.cause);
  if (!(await mayBeIntended(session, work))) return end;
  return askPerson(session, work, `${end.reason}: is the new behavior right?`);
}

async function waitBeforeRetry(schedule: Schedule, work: CauseWork, delayMs: number): Promise<void> {
  const { bus, clock } = schedule.progress.session;
  const last = work.attempts.at(-1);
  const reason = (last && getEndReason(last)) ?? 'the fix did not hold';
  const attempt = (last?.n ?? 0) + 1;
  bus.emit({ type: 'agent.retrying', causeId: work.cause.id, attempt, delayMs, reason });
  await schedule.pause(() => clock.sleep(delayMs, work.signal));
  work.hasWaited = true;
}

async function tryProposal(
  schedule: Schedule,
  work: CauseWork,
  { n, proposal }: { readonly n: number; readonly proposal: ProposedFix },
): Promise<void> {
  const { session } = schedule.progress;
  const trial = await startTrial(session, work.cause, { n, agent: proposal.agent, runner: builtIn });
  await applyProposal(session, trial, { proposal, causeId: work.cause.id });
  await guardTrial(session, work, trial);
  await tryAndRecord(schedule, work, trial);
}

/** Re-runs the tests without a change (HL-5). */
async function retestUnchanged(schedule: Schedule, work: CauseWork, n: number): Promise<void> {
  const trial = await startTrial(schedule.progress.session, work.cause, { n, agent: null, runner: null });
  work.trial = trial;
  await tryAndRecord(schedule, work, trial);
}

/**
 * Lets an agent work without the working tree, then judges its change in the tree. Asks the policy again once an agent is free, because others may have
 * reached a limit meanwhile. If the agents at work may still reach one, waits for one of them to end.
 */
async function deploy(
  schedule: Schedule,
  work: CauseWork,
  { agent, attempt: n }: Extract<NextStep, { kind: 'deploy' }>,
): Promise<void> {
  const { session } = schedule.progress;
  const { settings, spending } = session;
  const isStillNext = () => {
    const decision = chooseNextStep(schedule, work);
    return decision.kind === 'deploy' && decision.agent === agent;
  };
  const finishedTrial = await schedule.withAgent(work, async (copy) => {
    const started = await schedule.startInTurn(async () => {
      await schedule.rerunBeforeAgent(work);
      work.cause = schedule.addFoundBlame(work.cause);
      while (isStillNext() && !spending.mayStartAgent(settings.limits)) await spending.waitForNextEnd();
      if (!isStillNext()) return null;
      const runner = settings.agents[agent]?.runner ?? null;
      const trial = await startTrial(session, work.cause, { n, agent, runner });
      const { cause, attempts: previous, revealingAttempts, memory } = work;
      const request = { cause, agent, n, previous, revealingAttempts, memory };
      const finish = await schedule.prepareInCopy(work, copy, (slot) =>
        prepareAgent(session, trial, request, slot),
      );
      return { trial, finish };
    });
    if (started === null) return null;
    void schedule.continueSearches();
    await started.finish();
    await guardTrial(session, work, started.trial);
    return started.trial;
  });
  if (finishedTrial) await tryAndRecord(schedule, work, finishedTrial);
  schedule.endTrial(work);
}

/** Tries an attempt in the project, unless it has ended or was stopped, and stores its end. */
async function tryAndRecord(schedule: Schedule, work: CauseWork, trial: Trial): Promise<void> {
  const { session } = schedule.progress;
  if (trial.end === null && work.signal.aborted) await stopTrial(session, trial, work.signal);
  if (trial.end === null) await tryInProject(schedule, work, trial);
  const attempt = toAttempt(trial);
  await recordTriedAttempt(session, { cause: work.cause, id: trial.id, attempt });
  work.attempts = [...work.attempts, attempt];
  work.hasWaited = false;
}

/** Applies an attempt, judges it by a re-run, and reverts it if it did not hold. */
async function tryInProject(schedule: Schedule, work: CauseWork, trial: Trial): Promise<void> {
  const { session } = schedule.progress;
  // Nothing was applied, so the tests are still red.
  if (trial.whole && !trial.change)
    endWithoutRun(trial, { kind: 'still-failing', because: trial.because ?? '' });
  if (trial.end === null && trial.change) await tryWithOthers(schedule, work);
  if (isGreenWithOthers(trial) && trial.retest) {
    const judged = { kind: 'green', proof: [] } as const;
    await endJudgedAttempt(session, work, { trial, rerun: trial.retest, judged });
  }
  if (trial.end === null) await applyTrial(session, trial);
  if (trial.end === null)
    await schedule.tryWithOtherFailures(work, (otherFailures) =>
      judgeAlone(session, work, { trial, otherFailures }),
    );
  await tryWholeChange(session, work, trial);
}

/** Tries the attempt at a cause together with the ready attempts at all other causes. */
async function tryWithOthers(schedule: Schedule, work: CauseWork): Promise<void> {
  if (!isReady(work)) return;
  const others = [...schedule.active].filter((other) => other !== work).filter(isReady);
  if (others.length === 0) return;
  await tryTogether(schedule.progress.session, [work, ...others]);
  // An attempt that does not hold together with others is tried alone once the others have been judged.
  if (!isGreenWithOthers(work.trial)) await schedule.yieldTree();
}
