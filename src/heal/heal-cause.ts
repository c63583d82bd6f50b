import type { Side } from '../model/choice.js';
import { agentsFor, decide, type Decision } from './policy.js';
import type { CauseEnd } from '../model/verdict.js';
import { type Attempt, bareAttempt, becauseOf } from '../model/attempt.js';
import { builtIn } from '../model/built-in.js';
import { type Cause, type DiagnosedFailure, retryOf } from '../model/cause.js';
import { canBeReverted } from '../model/blame.js';
import { questionAbout, type Escalation } from '../model/escalation.js';
import { localDay } from '../format.js';
import { unreachable } from '../unreachable.js';
import { followed, offerForNothing, revertOf } from './offers.js';
import type { Retest } from './retest.js';
import { prepareAgent } from './attempt/deploy.js';
import type { WorkPlace } from './attempt/start-agent.js';
import {
  guardFix,
  judgeFix,
  type Patch,
  patchOf,
  type ReadyFix,
  type Shared,
  type TriedFix,
  type Try,
  unapplied,
} from './attempt/try-fix.js';
import { attemptTried, revertChanges } from './attempt/end-attempt.js';
import { applyProposal, proposalsFor } from './attempt/proposed.js';
import type { ProposedFix } from './proposed-fix.js';
import type { Session } from './session.js';
import type { KnownFailure } from '../store/store.js';

/** A cause after work on it: what was tried, and how it ended. */
export interface TriedCause {
  readonly cause: Cause;
  readonly attempts: readonly Attempt[];
  readonly end: CauseEnd;
  /** The last re-run of the lead, or null if there was none. */
  readonly lastRetest: Retest | null;
  /** What the proof of its last attempt has to look at. */
  readonly toChallenge: TriedFix['toChallenge'];
  /** What earlier runs know about it. */
  readonly known: KnownFailure;
  /** Id of the last attempt in the store, where it stays unfinished until its fix is proven. */
  readonly attemptId: string | null;
  /** The fixes that need no agent and have not been tried yet. */
  readonly proposals: AsyncIterator<ProposedFix>;
  /** The number of the copy in which its agents worked: agent programs tie a session to its folder. */
  readonly copy: number | null;
}

/** How a cause is healed. */
export interface HealRequest {
  /** Signatures that the same tests had earlier in this run; coming back to one of them is not progress (HN-9). */
  readonly earlier?: ReadonlySet<string>;
  /** The attempts that led to its error, whose changes are in the tree (HL-3). */
  readonly chain?: readonly Attempt[];
  /** The cause as it was healed before, if its fix did not hold in the proof. */
  readonly from?: TriedCause;
  /** Its turn among others; without any, it has the tree to itself. */
  readonly turn?: Turn;
}

/** How an agent is started for a cause. */
export interface AgentWork {
  /** Where it works. */
  readonly at: WorkPlace;
  /** Does what needs the project as it is now: with it, or in the copy alone while something is tried in the project. */
  readonly brief: <T>(work: (at: WorkPlace) => Promise<T>) => Promise<T>;
}

/**
 * A cause's turn in the schedule. Whoever heals a cause has the project's tree, and gives it to others while it awaits what needs none.
 */
export interface Turn {
  /** The copy in which its last agent worked, or null. */
  readonly copy: number | null;
  /** Aborts when the run is interrupted, or when another fix has healed the cause. */
  readonly signal: AbortSignal;
  /** Whether more agents may be started: healing may be paused while one is at work. */
  mayGoOn(): boolean;
  /** Returns the cause with what is known by now about the change that broke it. */
  informed(cause: Cause): Cause;
  /** Returns it with what a search to its end says, for what a person is asked. */
  searched(cause: Cause): Promise<Cause>;
  /** Waits for an agent, and for its work, while others have the tree; null if the cause is stopped before it has one. */
  agent<T>(work: (agent: AgentWork) => Promise<T>): Promise<T | null>;
  /** Says that a change is ready to be tried as soon as the tree is free. */
  isReady(patch: Patch | null): void;
  /** Tries the change that is ready together with those of other causes; null if there are none, or if it did not hold among them. */
  together(): Promise<Shared | null>;
  /** Waits while others have the tree. */
  wait<T>(until: () => Promise<T>): Promise<T>;
  /** The failures of other causes to include in its re-runs. */
  beside(): readonly DiagnosedFailure[];
}

/** The turn of a cause that is healed while nothing else is. */
export function turnAlone({ signal }: Pick<Session, 'signal'>, copy = 0): Turn {
  const at = { copy, signal };
  return {
    ...at,
    mayGoOn: () => true,
    informed: (cause) => cause,
    searched: async (cause) => cause,
    agent: (work) => work({ at, brief: (brief) => brief(at) }),
    isReady: () => undefined,
    together: async () => null,
    wait: (until) => until(),
    beside: () => [],
  };
}

/** Returns what is known about a failure. An error message alone does not say that an old fault is back if its class is another one now. */
function knownOf({ lead }: Cause, known: KnownFailure): KnownFailure {
  return known.fix?.category === lead.diagnosis.category ? known : { ...known, fix: null };
}

/**
 * Runs the loop for one cause: asks the policy for the next step and takes it, until the policy ends it. `healed` here means green in
 * one re-run; the proof is shared with other causes and comes later (HN-5).
 */
export async function healCause(
  session: Session,
  found: Cause,
  { earlier = new Set(), chain = [], from, turn = turnAlone(session) }: HealRequest = {},
): Promise<TriedCause> {
  let cause = found;
  const attempts: Attempt[] = [...(from?.attempts ?? [])];
  let lastRetest: Retest | null = null;
  let toChallenge: TriedFix['toChallenge'];
  let attemptId: string | null = null;
  let [waited, mayPropose] = [from === undefined, true];
  session.bus.emit({ type: 'cause.started', causeId: cause.id });
  const known = from?.known ?? knownOf(cause, await session.store.recordFailure(cause.lead.signature));
  const proposals = from?.proposals ?? proposalsFor(session, { cause, known });
  if (known.open && !from) return ended(stillOpen(session, cause, known.open));
  if (known.fix && !from) session.bus.emit({ type: 'cause.came_back', causeId: cause.id, fix: known.fix });
  for (;;) {
    cause = turn.informed(cause);
    const so = { attempts, waited, mayPropose, known };
    const decision = nextStep(session, cause, { so, turn });
    switch (decision.kind) {
      case 'wait':
        await wait(session, cause, { delayMs: decision.delayMs, last: attempts.at(-1), turn });
        waited = true;
        break;
      case 'propose':
      case 'deploy':
      case 'retest': {
        const work = { n: decision.attempt, previous: attempts, chain, earlier, known };
        const made = await carryOut(session, cause, { decision, work, turn, proposals, so });
        if (made === null) {
          mayPropose &&= decision.kind !== 'propose';
          break;
        }
        if ('end' in made) return ended(made.end);
        attempts.push(made.attempt);
        lastRetest = made.retest;
        toChallenge = made.toChallenge;
        attemptId = made.id;
        waited = false;
        break;
      }
      case 'escalate':
        cause = await turn.searched(cause);
        return ended(await ask(session, cause, { question: decision.question, attempts, known }));
      case 'end': {
        const { verdict, reason, overBudget } = decision.end;
        const so = { attempts, known };
        if (verdict === 'failed' && !overBudget) cause = await turn.searched(cause);
        const isOpen = verdict === 'failed' && !overBudget && (await mayBeMeant(session, cause, so));
        if (!isOpen) return ended(decision.end);
        const question = `${reason}: is the new behavior right?`;
        return ended(await ask(session, cause, { question, attempts, known }));
      }
      default:
        return unreachable(decision);
    }
  }

  function ended(end: CauseEnd): TriedCause {
    return { cause, attempts, end, lastRetest, toChallenge, known, attemptId, proposals, copy: turn.copy };
  }
}

interface Step {
  readonly decision: Extract<Decision, { kind: 'propose' | 'deploy' | 'retest' }>;
  readonly work: Omit<Try, 'agent'>;
  readonly proposals: AsyncIterator<ProposedFix>;
  readonly turn: Turn;
  readonly so: SoFar;
}

/** An attempt, with its id in the store. */
type Stored = TriedFix & { readonly id: string | null };

/** Carries out a decision. Returns null if there is no fix that needs no agent, or nothing to do for one by now, and an end if the agent cannot be started. */
async function carryOut(
  session: Session,
  cause: Cause,
  { decision, work, proposals, ...step }: Step,
): Promise<Stored | { readonly end: CauseEnd } | null> {
  if (decision.kind === 'deploy') {
    const { agent } = decision;
    const reason = session.missingAgents?.get(agent);
    if (reason !== undefined) return { end: { verdict: 'agent-unusable', reason } };
    return deploy(session, cause, { work: { ...work, agent }, ...step });
  }
  const proposed = decision.kind === 'propose' ? await proposals.next() : null;
  if (proposed?.done) return null;
  const proposal = proposed?.value;
  const tried = { ...work, agent: proposal?.agent ?? null, ...(proposal ? { proposal } : {}) };
  const id = await stored(session, cause, tried);
  const deployed = proposal
    ? await applyProposal(session, { proposal, causeId: cause.id, n: work.n })
    : { made: bareAttempt(work.n), work: null, end: null, because: null };
  const ready = await guardFix(session, cause, { deployed, work: tried });
  step.turn.isReady('attempt' in ready ? null : patchOf(session, cause, { ready, work: tried }));
  return judged(session, cause, { id, ready, work: tried, turn: step.turn });
}

/** Returns the next step. */
function nextStep(
  session: Session,
  cause: Cause,
  { so, turn }: { readonly so: SoFar; readonly turn: Turn },
): Decision {
  if (turn.signal.aborted) return left('interrupted');
  const decision = decide(historyOf(session, cause, so), session.settings);
  const isEnd = decision.kind === 'end' || decision.kind === 'escalate';
  return isEnd || turn.mayGoOn() ? decision : left('healing stopped before its next try');
}

function left(reason: string): Decision {
  return { kind: 'end', end: { verdict: 'interrupted', reason } };
}

/** What a person is asked, and what is known for it. */
export interface Asking {
  question: string;
  /** Patches that cost nothing are added. */
  attempts: Attempt[];
  known: KnownFailure;
}

/** Proves the patches that cost nothing, and adds those that are offered; an agent's of the same side is as good. */
async function addForNothing(
  session: Session,
  cause: Cause,
  { attempts, known }: Pick<Asking, 'attempts' | 'known'>,
): Promise<void> {
  let n = attempts.at(-1)?.n ?? known.tries.count;
  for (const patch of [await followed(session, cause), await revertOf(session, cause)]) {
    if (patch === null || session.signal.aborted) continue;
    if (hasOffer(attempts, patch.side)) continue;
    const offered = await offerForNothing(session, cause, { n: (n += 1), patch });
    if (offered) attempts.push(offered);
  }
}

/** Whether a cause that nobody healed may be a change that its author meant: one of the app broke it, and the tests are green if they follow the page. */
async function mayBeMeant(
  session: Session,
  cause: Cause,
  so: Pick<Asking, 'attempts' | 'known'>,
): Promise<boolean> {
  if (!canBeReverted(cause.blame) || !(await followed(session, cause))) return false;
  await addForNothing(session, cause, so);
  return hasOffer(so.attempts, 'tests');
}

function hasOffer(attempts: readonly Attempt[], side: Side): boolean {
  return attempts.some(({ end }) => end.kind === 'offered' && end.side === side);
}

/**
 * Stores a question for a person, with the patches that are ready and those that cost nothing: what broke the tests is taken back, if that is
 * known (BL-4), and their texts follow the page (BL-6). The run continues with other causes (ME-6).
 */
export async function ask(
  session: Session,
  cause: Cause,
  { question, attempts, known }: Asking,
): Promise<CauseEnd> {
  const asked = attempts.at(-1)?.claim?.status === 'needs-person' ? question : null;
  await addForNothing(session, cause, { attempts, known });
  const about = questionAbout(cause, { attempts: [...known.tried, ...attempts], asked });
  const escalation = await session.store.escalate(about);
  const escalationId = escalation?.id ?? null;
  session.bus.emit({ type: 'agent.waiting_for_input', causeId: cause.id, question, escalationId });
  return { verdict: 'escalated', reason: question };
}

/** Repeats a question of an earlier run that nobody has answered; no agent is paid (ME-6). */
function stillOpen(session: Session, cause: Cause, { id, createdAt, problem }: Escalation): CauseEnd {
  const question = `It has been waiting for an answer since ${localDay(createdAt)}: ${problem}`;
  session.bus.emit({ type: 'agent.waiting_for_input', causeId: cause.id, question, escalationId: id });
  return { verdict: 'escalated', reason: question, askedBefore: true };
}

interface SoFar {
  attempts: readonly Attempt[];
  waited: boolean;
  mayPropose: boolean;
  known: KnownFailure;
}

function historyOf(session: Session, cause: Cause, { known, ...so }: SoFar) {
  const { routes, agents: settings } = session.settings;
  const chosen = known.decision?.chosen ?? null;
  const routed = agentsFor(cause.lead, routes);
  const { proposers = [], noAgents } = session.hooks;
  const without = chosen ? 'only the patch that a person has chosen was tried' : noAgents;
  const agents = without === undefined ? routed.filter((name) => settings[name]?.runner !== builtIn) : [];
  const noAgent = without ?? 'the built-in fixer found no fix it is sure of, and no agent program is set up';
  return {
    ...so,
    earlier: known.tries,
    // A failure that is left to people is not for them, either.
    mayPropose: so.mayPropose && (chosen !== null || (proposers.length > 0 && routed.length > 0)),
    ...(routed.length > 0 && agents.length === 0 ? { noAgent } : {}),
    retry: retryOf(cause),
    environment: cause.environment,
    agents,
    spent: session.spending.spentFor(cause, session.clock.now()),
  };
}

async function wait(
  session: Session,
  cause: Cause,
  so: { delayMs: number; last: Attempt | undefined; turn: Turn },
): Promise<void> {
  const reason = (so.last && becauseOf(so.last)) ?? 'the fix did not hold';
  const attempt = (so.last?.n ?? 0) + 1;
  session.bus.emit({ type: 'agent.retrying', causeId: cause.id, attempt, delayMs: so.delayMs, reason });
  await so.turn.wait(() => session.clock.sleep(so.delayMs, so.turn.signal));
}

function stored(
  { store, settings }: Session,
  cause: Cause,
  { agent, n, proposal }: Pick<Try, 'agent' | 'n' | 'proposal'>,
): Promise<string | null> {
  const runner = proposal ? builtIn : (settings.agents[agent ?? '']?.runner ?? null);
  return store.attemptStarted({ causeId: cause.id, signature: cause.lead.signature, n, agent, runner });
}

/**
 * Lets an agent work, without the tree, and judges what it made with it. By the time that an agent is free, others may have used up what is left, so
 * that the policy is asked again; while agents at work may do so, waits for one to end. Returns null if another step is to be taken then.
 */
async function deploy(
  session: Session,
  found: Cause,
  { work, turn, so }: Pick<Step, 'turn' | 'so'> & { readonly work: Try & { readonly agent: string } },
): Promise<Stored | null> {
  const { settings, spending } = session;
  const isStill = (cause: Cause) => {
    const decision = nextStep(session, cause, { so, turn });
    return decision.kind === 'deploy' && decision.agent === work.agent;
  };
  const made = await turn.agent(async ({ at, brief }) => {
    const cause = turn.informed(found);
    while (isStill(cause) && !spending.mayStart(settings.limits)) await spending.nextEnd();
    if (!isStill(cause)) return null;
    const id = await stored(session, cause, work);
    const agent = await brief((place) => prepareAgent(session, { ...work, cause }, place));
    const deployed = 'collect' in agent ? await agent.collect(await agent.work()) : agent;
    const ready = await guardFix(session, cause, { deployed, work });
    const isTried = !('attempt' in ready) && !at.signal.aborted;
    turn.isReady(isTried ? patchOf(session, cause, { ready, work }) : null);
    return { id, ready, cause };
  });
  return made && judged(session, made.cause, { ...made, work, turn });
}

/** Judges what was made for an attempt, unless it has ended or was stopped. */
async function judged(
  session: Session,
  cause: Cause,
  {
    id,
    ready,
    work,
    turn,
  }: {
    readonly id: string | null;
    readonly ready: ReadyFix | TriedFix;
    readonly work: Try;
    readonly turn: Turn;
  },
): Promise<Stored> {
  const tried =
    'attempt' in ready
      ? ready
      : turn.signal.aborted
        ? await stopped(session, ready, turn)
        : await judgeFix(session, cause, {
            ready,
            work,
            beside: () => turn.beside(),
            together: () => turn.together(),
          });
  await attemptTried(session, { cause, id, attempt: tried.attempt });
  return { ...tried, id };
}

async function stopped(session: Session, { deployed }: ReadyFix, turn: Turn): Promise<TriedFix> {
  const shared = await turn.together();
  if (shared) await revertChanges(session, [shared.change.id]);
  const { reason } = turn.signal;
  const because = typeof reason === 'string' ? reason : 'interrupted';
  return unapplied(deployed.made, { kind: 'interrupted', because });
}
