import { localTime } from '../../outputs/format.js';
import { remedyFor } from '../../agents/agent-error.js';
import { classifyAgentError } from '../../core/agent-error.js';
import type { AgentEnd, AgentRun, AgentUsage } from '../../core/attempt.js';
import type { Cause } from '../../core/cause.js';
import { backoffMs } from '../../core/policy.js';
import type { Session } from '../session.js';

/** How one start of an agent differs from the first. */
export interface Start {
  /** Whether the evidence is reduced to its essentials (AG-7). */
  readonly reduced: boolean;
  /** The session to continue (AG-9), or null for a new one. */
  readonly resume: string | null;
}

/** An agent run that no restart can improve. */
export interface FinishedAgent extends AgentRun {
  readonly end: Exclude<AgentEnd, { kind: 'retryable' | 'context-overflow' }>;
}

/** What to start, and for which cause. */
export interface RestartRequest {
  readonly cause: Cause;
  /** The number of the attempt, which all its starts share. */
  readonly n: number;
  readonly runner: string;
  /** The session of an earlier attempt, or null. */
  readonly resume: string | null;
  /** Ends its work on this cause. */
  readonly signal: AbortSignal;
  readonly start: (start: Start) => Promise<AgentRun>;
}

/** Restarts while the provider is unavailable, before a person has to look; with the default waits they take about two minutes. */
const MAX_RESTARTS = 5;

/** The longest wait that a provider can ask for; anything that takes longer is for a person to look at. */
const MAX_ASKED_WAIT_MS = 300_000;

/**
 * Starts an agent until it has worked or cannot work (AG-7): again after a wait with jitter if its provider is overloaded or out of
 * reach, and once more with reduced evidence if its input was too long. Restarts are not heal attempts, but the run's limits apply.
 */
export async function runWithRestarts(session: Session, request: RestartRequest): Promise<FinishedAgent> {
  const { cause, n, runner, signal } = request;
  let next: Start = { reduced: false, resume: request.resume };
  let whole: AgentRun | null = null;
  for (let restarts = 0; ;) {
    const run = await request.start(next);
    whole = whole === null ? run : joined(whole, run);
    const { end } = whole;
    if (signal.aborted) return { ...whole, end: { kind: 'aborted' } };
    const again = startAfter(end, next);
    if (again === null) return finished(session, { run: whole, end, runner });
    const waits = end.kind === 'retryable';
    if (waits) restarts += 1;
    const askedMs = waits ? (end.waitMs ?? 0) : 0;
    const delayMs = waits ? waitBefore(session, restarts, askedMs) : 0;
    if (
      restarts > MAX_RESTARTS ||
      askedMs > MAX_ASKED_WAIT_MS ||
      isLimitMet(session, { cause, delayMs, whole })
    )
      return finished(session, { run: whole, end, runner });
    const reason = 'reason' in end ? end.reason : end.kind;
    session.bus.emit({ type: 'agent.retrying', causeId: cause.id, attempt: n, delayMs, reason });
    await session.clock.sleep(delayMs, signal);
    if (signal.aborted) return { ...whole, end: { kind: 'aborted' } };
    // Other agents may have been started in the meantime.
    if (isLimitMet(session, { cause, delayMs: 0, whole }))
      return finished(session, { run: whole, end, runner });
    session.spending.agentRestarted();
    next = again;
  }
}

/** Returns the next start after an end, or null if another start would end the same way. */
function startAfter(end: AgentEnd, last: Start): Start | null {
  if (end.kind === 'retryable') return last;
  if (end.kind === 'context-overflow' && !last.reduced) return { reduced: true, resume: null };
  const isLost =
    last.resume !== null &&
    end.kind === 'unusable' &&
    classifyAgentError(end.reason).reason === 'session-unknown';
  return isLost ? { ...last, resume: null } : null;
}

/** Returns the wait in milliseconds: the backoff, or what the provider asks for if that is longer, each with jitter. */
function waitBefore({ settings, clock }: Session, restarts: number, askedMs: number): number {
  const random = clock.random();
  const asked = askedMs * (1 + random / 10);
  return Math.round(Math.max(jittered(backoffMs(restarts, settings.retries), random), asked));
}

/** Half of the wait is fixed and half is random, so that causes that hit the same error do not all retry at once. */
function jittered(delayMs: number, random: number): number {
  return Math.round(delayMs / 2 + (random * delayMs) / 2);
}

function isLimitMet(
  { settings: { limits }, spending, clock }: Session,
  { cause, delayMs, whole }: { cause: Cause; delayMs: number; whole: AgentRun },
): boolean {
  const { agentRuns, elapsedMs, costUsd } = spending.spentFor(cause, clock.now());
  return (
    agentRuns >= limits.agentRuns ||
    elapsedMs + delayMs >= limits.timeMs ||
    costUsd + (whole.usage.costUsd ?? 0) >= limits.costUsd
  );
}

function finished(
  session: Session,
  { run, end, runner }: { run: AgentRun; end: AgentEnd; runner: string },
): FinishedAgent {
  if (end.kind !== 'retryable' && end.kind !== 'context-overflow') return { ...run, end };
  const { reason } = classifyAgentError(end.reason);
  const isLong = end.kind === 'retryable' && (end.waitMs ?? 0) > MAX_ASKED_WAIT_MS;
  const remedy = isLong ? resumeAfter(session, end.waitMs ?? 0) : remedyFor(reason, runner);
  return { ...run, end: { kind: 'unusable', reason: end.reason, remedy } };
}

function resumeAfter({ clock, folder }: Session, waitMs: number): string {
  const at = localTime(new Date(clock.now() + waitMs).toISOString());
  return `The provider is available again after ${at}; then run \`npx self-heal resume ${folder.runId}\`.`;
}

/** Merges several starts into one run: the cost and time of all, the end and output of the last. */
function joined(before: AgentRun, after: AgentRun): AgentRun {
  return {
    ...after,
    usage: joinedUsage(before.usage, after.usage),
    denials: [...before.denials, ...after.denials],
    durationMs: before.durationMs + after.durationMs,
    orphans: [...before.orphans, ...after.orphans],
  };
}

/** Adds up what two runs used; the session is that of the later one. */
export function joinedUsage(before: AgentUsage, after: AgentUsage): AgentUsage {
  const sum = (a: number | null, b: number | null) => (a === null && b === null ? null : (a ?? 0) + (b ?? 0));
  return {
    costUsd: sum(before.costUsd, after.costUsd),
    inputTokens: sum(before.inputTokens, after.inputTokens),
    outputTokens: sum(before.outputTokens, after.outputTokens),
    turns: sum(before.turns, after.turns),
    sessionId: after.sessionId,
  };
}
