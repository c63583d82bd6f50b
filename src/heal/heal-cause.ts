import type { Side } from '../core/choice.js';
import { agentsFor, decide, type Decision, type History } from '../core/policy.js';
import type { CauseEnd } from '../core/verdict.js';
import { type Attempt, becauseOf } from '../core/attempt.js';
import { builtIn } from '../core/built-in.js';
import { type Cause, type DiagnosedFailure, retryOf } from '../core/cause.js';
import { canBeReverted } from '../core/blame.js';
import { questionAbout, type Escalation } from '../core/escalation.js';
import { localDay } from '../format.js';
import { unreachable } from '../core/unreachable.js';
import { followed, offerForNothing, revertOf } from './offers.js';
import type { Retest } from './retest.js';
import { judgeFix, prepareFix, type TriedFix, type Try } from './attempt/try-fix.js';
import { attemptTried } from './attempt/end-attempt.js';
import { proposalsFor } from './attempt/proposed.js';
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
  readonly copy: number;
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

/**
 * A cause's turn in the loop that owns the project's tree. Whoever heals a cause has the tree, and gives it to others only while it awaits
 * what needs none.
 */
export interface Turn {
  /** The number of the copy in which its agents work. */
  readonly copy: number;
  /** Aborts when the run is interrupted, or when another fix has healed the cause. */
  readonly signal: AbortSignal;
  /** Whether more agents may be started: healing may be paused while one is at work. */
  mayGoOn(): boolean;
  /** Awaits an agent's work while others have the tree. */
  agent<T>(work: () => Promise<T>): Promise<T>;
  /** Waits while others have the tree. */
  wait<T>(until: () => Promise<T>): Promise<T>;
  /** The failures of other causes to include in its re-runs. */
  beside(): readonly DiagnosedFailure[];
}

/** The turn of a cause that is healed while nothing else is. */
export function turnAlone({ signal }: Pick<Session, 'signal'>, copy = 0): Turn {
  const at = <T>(work: () => Promise<T>) => work();
  return { copy, signal, mayGoOn: () => true, agent: at, wait: at, beside: () => [] };
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
  cause: Cause,
  { earlier = new Set(), chain = [], from, turn = turnAlone(session) }: HealRequest = {},
): Promise<TriedCause> {
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
    const so = { attempts, waited, mayPropose, known };
    const decision = await nextStep(session, turn, () => historyOf(session, cause, so));
    switch (decision.kind) {
      case 'wait':
        await wait(session, cause, { delayMs: decision.delayMs, last: attempts.at(-1), turn });
        waited = true;
        break;
      case 'propose':
      case 'deploy':
      case 'retest': {
        const work = { n: decision.attempt, previous: attempts, chain, earlier, known };
        const made = await carryOut(session, cause, { decision, work, turn, proposals });
        if (made === null) {
          mayPropose = false;
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
        return ended(await ask(session, cause, { question: decision.question, attempts, known }));
      case 'end': {
        const { verdict, reason, overBudget } = decision.end;
        const so = { attempts, known };
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
}

/** An attempt, with its id in the store. */
type Stored = TriedFix & { readonly id: string | null };

/** Carries out a decision. Returns null if there is no other fix that needs no agent, and an end if the agent cannot be started. */
async function carryOut(
  session: Session,
  cause: Cause,
  { decision, work, turn, proposals }: Step,
): Promise<Stored | { readonly end: CauseEnd } | null> {
  const proposed = decision.kind === 'propose' ? await proposals.next() : null;
  if (proposed?.done) return null;
  const proposal = proposed?.value;
  const agent = decision.kind === 'deploy' ? decision.agent : (proposal?.agent ?? null);
  const missing = decision.kind === 'deploy' ? session.missingAgents?.get(decision.agent) : undefined;
  if (missing !== undefined) return { end: { verdict: 'agent-unusable', reason: missing } };
  return attempt(session, cause, { turn, work: { ...work, agent, ...(proposal ? { proposal } : {}) } });
}

/** Asks the policy for the next step. While agents at work might use up the remaining budget, waits for one to end and asks again. */
async function nextStep(
  { settings, spending }: Session,
  turn: Turn,
  history: () => History,
): Promise<Decision> {
  while (!turn.signal.aborted) {
    const decision = decide(history(), settings);
    const isEnd = decision.kind === 'end' || decision.kind === 'escalate';
    if (!isEnd && !turn.mayGoOn()) return left('healing stopped before its next try');
    if (decision.kind !== 'deploy' || spending.mayStart(settings.limits)) return decision;
    await turn.wait(() => spending.nextEnd());
  }
  return left('interrupted');
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

/** Makes one attempt, which is stored before it begins: its agent works without the tree, and what it made is judged with it. */
async function attempt(
  session: Session,
  cause: Cause,
  { work, turn }: { readonly work: Try; readonly turn: Turn },
): Promise<Stored> {
  const { agent, n, proposal } = work;
  const { signature } = cause.lead;
  const runner = proposal ? builtIn : (session.settings.agents[agent ?? '']?.runner ?? null);
  const id = await session.store.attemptStarted({ causeId: cause.id, signature, n, agent, runner });
  const ready = await prepareFix(session, cause, { work, copy: turn.copy, signal: turn.signal });
  const deployed = 'collect' in ready ? await ready.collect(await turn.agent(ready.work)) : ready;
  const tried = await judgeFix(session, cause, { deployed, work, beside: () => turn.beside() });
  await attemptTried(session, { cause, id, attempt: tried.attempt });
  return { ...tried, id };
}
