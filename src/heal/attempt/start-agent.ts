import path from 'node:path';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { buildContext, reduceContext } from '../../agents/build-context.js';
import { expandPrompt } from '../../agents/expand-command.js';
import { renderPrompt } from '../../agents/prompt.js';
import { type FixToReview, renderReview } from '../../agents/review-prompt.js';
import type { AgentTask } from '../../agents/runner.js';
import type { AgentRun, Attempt, AgentEnd, AgentUsage } from '../../model/attempt.js';
import type { Cause } from '../../model/cause.js';
import type { AgentSettings } from '../../model/settings.js';
import type { Session } from '../session.js';
import { copyTrace } from '../../evidence/trace/masked-trace.js';
import { traceFiles } from '../../evidence/evidence-files.js';
import type { FailureHistory } from '../../store/store.js';
import type { WorkingCopy } from '../../workspace/workspace.js';
import { relativePath } from '../../paths.js';
import { mapTexts } from '../../secrets/reading.js';
import { localTime } from '../../format.js';
import { chooseRemedy } from '../../agents/agent-error.js';
import { classifyAgentError, classifyAgentEnd } from '../../agents/api-error.js';
import { describeError } from '../../problem.js';
import { backoffMs } from '../policy.js';

/** An agent to deploy on a cause, and the earlier attempts. */
export interface DeployRequest {
  readonly cause: Cause;
  readonly agent: string;
  readonly n: number;
  readonly previous: readonly Attempt[];
  /** The attempts that revealed this failure, whose changes are in the tree; absent if the prompt is only displayed. */
  readonly revealingAttempts?: readonly Attempt[];
  /** The history of the failure in earlier runs; absent if the prompt is only displayed. */
  readonly memory?: FailureHistory;
  /** The fix to review; absent if the agent should make one. */
  readonly review?: ReviewRequest;
}

/** A fix to review. */
export interface ReviewRequest {
  readonly fix: FixToReview;
  /** A token that marks the reviewer's answer in its program's output. */
  readonly token: string;
  /** The program that reviews it. */
  readonly program: string;
  /** The folder with the evidence of the red run. */
  readonly evidence: string;
}

/** The prompt and the files that describe an agent's task, written before it starts. */
interface AgentTaskFiles {
  /** The text that the program gets. */
  readonly prompt: string;
  readonly contextFile: string;
  /** The file that holds the prompt. */
  readonly promptFile: string;
}

/** Returns the session of the last attempt if it was the same agent with the same program, so that it can continue (AG-9). */
function findSession(session: Session, { agent, previous }: DeployRequest): string | null {
  const last = previous.findLast((attempt) => attempt.agent !== null);
  const runner = session.settings.agents[agent]?.runner;
  return last?.agent === agent && last.runner === runner ? (last.usage?.sessionId ?? null) : null;
}

/** The copy in which an agent works, and the signal that stops it. */
export interface AgentSlot {
  readonly copy: number;
  readonly signal: AbortSignal;
  /** True while a change is under trial in the project, so that the copy must not be updated from it. */
  readonly isFixUnderTest?: boolean;
  /** True if the cause's last agent worked in another copy, so that its session cannot continue here. */
  readonly isNewCopy?: boolean;
}

/** The copy in which an agent works, and the path of the attempt's files without extension. */
interface AttemptLocation {
  readonly file: string;
  readonly workingCopy: WorkingCopy;
  readonly isFixUnderTest: boolean;
}

/** Writes an agent's task into its copy, and returns it with the copy's paths. */
async function briefAgent(
  session: Session,
  request: DeployRequest,
  { file, workingCopy, isFixUnderTest, reduced = false }: AttemptLocation & Partial<RestartOptions>,
): Promise<AgentTaskFiles> {
  if (request.review)
    return briefReviewer(session, { ...request, review: request.review }, { file, workingCopy });
  const written = await writeTask(session, request, { reduced, ...(isFixUnderTest ? { workingCopy } : {}) });
  await copyEvidenceForAgent(
    workingCopy,
    await session.folder.makeFailureFolder(request.cause.lead.n),
    session.folder,
  );
  const prompt = workingCopy.toCopyPaths(written.prompt);
  // The failure's own prompt.md is overwritten by the next attempt.
  await writeFile(`${file}.prompt.md`, prompt);
  return { ...written, prompt };
}

/** Writes a reviewer's task and the evidence of the red run into its copy. */
async function briefReviewer(
  session: Session,
  request: DeployRequest & { readonly review: ReviewRequest },
  { file, workingCopy }: Pick<AttemptLocation, 'file' | 'workingCopy'>,
): Promise<AgentTaskFiles> {
  const { fix, token, evidence } = request.review;
  const agent = findAgent(session, request);
  const folder = toFinalPaths(session.folder, evidence);
  const names = {
    contextFile: path.join(folder, 'context.json'),
    promptFile: path.join(folder, 'review.md'),
  };
  const { slashCommand } = agent;
  const rendered = renderReview(fix, { slashCommand, token, folder: relativePath(session.cwd, folder) });
  const prompt = workingCopy.toCopyPaths(await expandForAgent(session, agent, rendered));
  await copyEvidenceForAgent(workingCopy, evidence, session.folder);
  await writeFile(workingCopy.toCopyPaths(names.promptFile), prompt);
  await writeFile(`${file}.prompt.md`, prompt);
  return { prompt, ...names };
}

function expandForAgent(session: Session, { runner }: AgentSettings, prompt: string): Promise<string> {
  const clean = (text: string) => session.redactor.clean(text);
  return expandPrompt(session.settings.runners[runner], prompt, { cwd: session.cwd, clean });
}

/** An agent that can start: its copy and its task are ready. */
export interface PreparedAgent {
  /** The number of its attempt within the run. */
  readonly id: number;
  /** The path of the attempt's files, without an extension. */
  readonly file: string;
  readonly workingCopy: WorkingCopy;
  /** Lets the agent work until it ends and no restart would help. It needs only its copy, so other tasks may use the project meanwhile. */
  readonly work: () => Promise<FinishedAgent>;
}

/** Prepares the copy in which an agent works, and writes its task; returns the reason if the copy cannot be made. */
export async function setUpAgent(
  session: Session,
  request: DeployRequest,
  { copy, signal, isFixUnderTest = false, isNewCopy = false }: AgentSlot,
): Promise<PreparedAgent | string> {
  const { cause, n } = request;
  const workingCopy = await session.workspace.updateCopy(copy, { isFixUnderTest }).catch(describeError);
  if (typeof workingCopy === 'string') return workingCopy;
  const agentAtWork = session.spending.countAgentStart(cause);
  const id = session.spending.nextAttemptNumber();
  // The agent counts as started, so if this fails, causes that wait for its end must not wait forever.
  const stopCounting = (error: unknown): never => {
    agentAtWork[Symbol.dispose]();
    throw error;
  };
  const file = await session.folder.makeAttemptPath(id).catch(stopCounting);
  const brief = await briefAgent(session, request, { file, workingCopy, isFixUnderTest }).catch(stopCounting);
  const work = async () => {
    using agent = agentAtWork;
    const run = await runWithRestarts(session, {
      cause,
      n,
      runner: findAgent(session, request).runner,
      resume: isNewCopy ? null : findSession(session, request),
      signal,
      start: (start) =>
        startAgent(session, request, { ...start, file, workingCopy, isFixUnderTest, signal, work: brief }),
    });
    agent.addCost(run.usage.costUsd);
    return run;
  };
  return { id, file, workingCopy, work };
}

/** Announces that an agent has ended. */
export function announceAgentEnd(
  { bus }: Session,
  { cause, n }: DeployRequest,
  { end, durationMs, usage, orphans, ...more }: FinishedAgent & { readonly filesChanged: number },
): void {
  bus.emit({
    type: 'agent.ended',
    causeId: cause.id,
    attempt: n,
    exit: end.kind,
    durationMs,
    costUsd: usage.costUsd,
    agentError: classifyAgentEnd(end),
    filesChanged: more.filesChanged,
    orphans,
    ...(more.opinion ? { opinion: more.opinion } : {}),
  });
}

/** Starts an agent once, with its full task or a reduced one. */
async function startAgent(
  session: Session,
  request: DeployRequest,
  start: RestartOptions & AttemptLocation & { readonly signal: AbortSignal; readonly work: AgentTaskFiles },
): Promise<AgentRun> {
  const { cause, n } = request;
  const agent = findAgent(session, request);
  const runner = session.settings.runners[agent.runner];
  if (!runner) throw new Error(`The settings have no runner ${agent.runner}`);
  const { workingCopy } = start;
  const written = start.reduced ? await briefAgent(session, request, start) : start.work;
  const logFile = `${start.file}.log`;
  const started = {
    causeId: cause.id,
    attempt: n,
    agent: agent.name,
    slashCommand: agent.slashCommand,
    runner: agent.runner,
    timeoutMs: agent.timeoutMs,
    logFile: relativePath(session.cwd, toFinalPaths(session.folder, logFile)),
    ...(request.review ? { isReview: true as const } : {}),
  };
  const { screenshot } = cause.lead.evidence;
  const task: AgentTask = {
    agent,
    runner,
    prompt: written.prompt,
    contextFile: workingCopy.toCopyPaths(written.contextFile),
    promptFile: workingCopy.toCopyPaths(written.promptFile),
    token: request.review?.token,
    screenshot:
      screenshot === null ? null : workingCopy.toCopyPaths(toFinalPaths(session.folder, screenshot)),
    logFile,
    cwd: workingCopy.cwd,
    workDir: workingCopy.folder,
    copyOf: { project: session.cwd, root: workingCopy.toCopyPaths(session.workspace.root) },
    runId: session.folder.runId,
    attempt: n,
    resume: start.resume,
    signal: start.signal,
    onStart: (pid) => session.bus.emit({ type: 'agent.started', ...started, pid }),
    onActivity: (text) =>
      session.bus.emit({ type: 'agent.activity', causeId: cause.id, text: workingCopy.toProjectPaths(text) }),
  };
  const run = await session.runAgent(task);
  const { toProjectPaths } = workingCopy;
  const claim = run.claim && { ...run.claim, summary: toProjectPaths(run.claim.summary) };
  return { ...run, claim, tail: toProjectPaths(run.tail), denials: run.denials.map(toProjectPaths) };
}

/** Copies the evidence for an agent into its copy, with the copy's paths in all texts, so that the agent never sees the project's own path. */
async function copyEvidenceForAgent(
  workingCopy: WorkingCopy,
  folder: string,
  runFolder: Session['folder'],
): Promise<void> {
  const toCopyPaths = (text: string) => workingCopy.toCopyPaths(toFinalPaths(runFolder, text));
  const target = toCopyPaths(folder);
  await mkdir(target, { recursive: true });
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(folder, entry.name);
    const to = path.join(target, entry.name);
    if (/\.(?:json|md|log|yml|txt|html)$/.test(entry.name))
      await writeFile(to, toCopyPaths(await readFile(file, 'utf8')));
    else if (entry.name === traceFiles.trace)
      await copyTrace(file, to, { lines: toCopyPaths, text: toCopyPaths });
    else await copyFile(file, to);
  }
}

/** Replaces the run's working folder in a text with the folder that the run will have in the project, which is also its name in agents' copies. */
function toFinalPaths({ dir, finalDir }: Session['folder'], text: string): string {
  return text.replaceAll(dir, finalDir);
}

/** Writes context.json and prompt.md into the failure's folder, where `inspect` finds them. Returns their paths in the project. */
export async function writeTask(
  session: Session,
  request: DeployRequest,
  { reduced, workingCopy }: Pick<RestartOptions, 'reduced'> & { readonly workingCopy?: WorkingCopy } = {
    reduced: false,
  },
): Promise<AgentTaskFiles> {
  const dir = await session.folder.makeFailureFolder(request.cause.lead.n);
  const names = { context: 'context.json', prompt: 'prompt.md' };
  const contextFile = toFinalPaths(session.folder, path.join(dir, names.context));
  const promptFile = toFinalPaths(session.folder, path.join(dir, names.prompt));
  const agent = findAgent(session, request);
  await session.diagnostics.unpackTrace(request.cause.lead.n);
  const edited = workingCopy?.edited ?? session.workspace.listEditedFiles();
  const fullContext = await buildContext({
    settings: session.settings,
    root: session.cwd,
    ...(workingCopy ? { tree: workingCopy.cwd } : {}),
    runId: session.folder.runId,
    runDir: session.folder.dir,
    playwright: session.suite.playwright.version,
    cause: request.cause,
    attempt: request.n,
    previousAttempts: [
      ...(request.memory?.failedAttempts ?? []),
      ...(request.revealingAttempts ?? []),
      ...request.previous,
    ],
    guidance: request.memory?.guidance ?? null,
    mayChangeTests: request.memory?.decision?.allows === 'tests',
    earlierFix: request.memory?.fix ?? null,
    noBlameReason: session.bus.getRun().causes.find(({ id }) => id === request.cause.id)?.unblamed,
    isEdited: (file) => edited.has(file),
    clean: (text) => session.redactor.clean(text),
  });
  const masked = session.redactor.deep(reduced ? reduceContext(fullContext) : fullContext);
  const context = mapTexts(masked, (text) => toFinalPaths(session.folder, text));
  const { slashCommand } = agent;
  const prompt = await expandForAgent(session, agent, renderPrompt(context, { contextFile, slashCommand }));
  await writeFile(path.join(dir, names.context), `${JSON.stringify(context, null, 2)}\n`);
  await writeFile(path.join(dir, names.prompt), prompt);
  return { prompt, contextFile, promptFile };
}

function findAgent({ settings }: Session, request: DeployRequest): AgentSettings {
  const agent = settings.agents[request.agent];
  if (!agent) throw new Error(`The settings have no agent ${request.agent}`);
  return request.review ? { ...agent, runner: request.review.program } : agent;
}

/** The options in which starts of the same agent differ. */
export interface RestartOptions {
  /** True to reduce the evidence to its essentials (AG-7). */
  readonly reduced: boolean;
  /** The session to continue (AG-9), or null for a new one. */
  readonly resume: string | null;
}

/** An agent run that ended in a way that no restart would improve. */
export interface FinishedAgent extends AgentRun {
  readonly end: Exclude<AgentEnd, { kind: 'retryable' | 'context-overflow' }>;
}

export interface RestartRequest {
  readonly cause: Cause;
  /** The number of the attempt, which all its starts share. */
  readonly n: number;
  readonly runner: string;
  /** The session of an earlier attempt, or null. */
  readonly resume: string | null;
  /** Aborts to end its work on this cause. */
  readonly signal: AbortSignal;
  readonly start: (options: RestartOptions) => Promise<AgentRun>;
}

/** The maximum number of restarts while the provider is unavailable. With the default waits, they take about two minutes. */
const MAX_RESTARTS = 5;

/** The longest wait that a provider may ask for. If it asks for more, the agent ends as unusable. */
const MAX_REQUESTED_WAIT_MS = 300_000;

/**
 * Starts an agent, and restarts it after a wait with jitter if its provider is overloaded or unreachable, and once with reduced evidence if its input was
 * too long (AG-7). Restarts are not heal attempts, but the limits of the run apply.
 */
export async function runWithRestarts(session: Session, request: RestartRequest): Promise<FinishedAgent> {
  const { cause, n, runner, signal } = request;
  let next: RestartOptions = { reduced: false, resume: request.resume };
  let total: AgentRun | null = null;
  for (let restarts = 0; ;) {
    const run = await request.start(next);
    total = total === null ? run : mergeRuns(total, run);
    const { end } = total;
    if (signal.aborted) return { ...total, end: { kind: 'aborted' } };
    const restart = chooseRestart(end, next);
    if (restart === null) return finishRun(session, { run: total, end, runner });
    const mustWait = end.kind === 'retryable';
    if (mustWait) restarts += 1;
    const requestedMs = mustWait ? (end.waitMs ?? 0) : 0;
    const delayMs = mustWait ? chooseDelay(session, restarts, requestedMs) : 0;
    if (
      restarts > MAX_RESTARTS ||
      requestedMs > MAX_REQUESTED_WAIT_MS ||
      isLimitReached(session, { cause, delayMs, total })
    )
      return finishRun(session, { run: total, end, runner });
    const reason = 'reason' in end ? end.reason : end.kind;
    session.bus.emit({ type: 'agent.retrying', causeId: cause.id, attempt: n, delayMs, reason });
    await session.clock.sleep(delayMs, signal);
    if (signal.aborted) return { ...total, end: { kind: 'aborted' } };
    // Other agents may have started meanwhile.
    if (isLimitReached(session, { cause, delayMs: 0, total }))
      return finishRun(session, { run: total, end, runner });
    session.spending.countAgentRestart();
    next = restart;
  }
}

/** Returns the next start after an end, or null if another start would end the same way. */
function chooseRestart(end: AgentEnd, last: RestartOptions): RestartOptions | null {
  if (end.kind === 'retryable') return last;
  if (end.kind === 'context-overflow' && !last.reduced) return { reduced: true, resume: null };
  const isLost =
    last.resume !== null &&
    end.kind === 'unusable' &&
    classifyAgentError(end.reason).reason === 'session-unknown';
  return isLost ? { ...last, resume: null } : null;
}

/** Returns the wait in milliseconds: the backoff, or the wait that the provider asks for if that is longer, each with jitter. */
function chooseDelay({ settings, clock }: Session, restarts: number, requestedMs: number): number {
  const random = clock.random();
  const requested = requestedMs * (1 + random / 10);
  return Math.round(Math.max(addJitter(backoffMs(restarts, settings.retries), random), requested));
}

/** Adds jitter: half of the wait is fixed and half is random, so that causes with the same error do not all retry at once. */
function addJitter(delayMs: number, random: number): number {
  return Math.round(delayMs / 2 + (random * delayMs) / 2);
}

function isLimitReached(
  { settings: { limits }, spending, clock }: Session,
  { cause, delayMs, total }: { cause: Cause; delayMs: number; total: AgentRun },
): boolean {
  const { agentRuns, elapsedMs, costUsd } = spending.getSpent(cause, clock.now());
  return (
    agentRuns >= limits.agentRuns ||
    elapsedMs + delayMs >= limits.timeMs ||
    costUsd + (total.usage.costUsd ?? 0) >= limits.costUsd
  );
}

function finishRun(
  session: Session,
  { run, end, runner }: { run: AgentRun; end: AgentEnd; runner: string },
): FinishedAgent {
  if (end.kind !== 'retryable' && end.kind !== 'context-overflow') return { ...run, end };
  const { reason } = classifyAgentError(end.reason);
  const isLong = end.kind === 'retryable' && (end.waitMs ?? 0) > MAX_REQUESTED_WAIT_MS;
  const remedy = isLong ? describeAvailability(session, end.waitMs ?? 0) : chooseRemedy(reason, runner);
  return { ...run, end: { kind: 'unusable', reason: end.reason, remedy } };
}

function describeAvailability({ clock }: Session, waitMs: number): string {
  const at = localTime(new Date(clock.now() + waitMs).toISOString());
  return `The provider is available again after ${at}; then run \`npx self-heal run\` again.`;
}

/** Merges several starts into one run: the cost and time of all, the end and output of the last. */
function mergeRuns(before: AgentRun, after: AgentRun): AgentRun {
  return {
    ...after,
    usage: addUsage(before.usage, after.usage),
    denials: [...before.denials, ...after.denials],
    durationMs: before.durationMs + after.durationMs,
    orphans: [...before.orphans, ...after.orphans],
  };
}

/** Adds up the usage of two runs; the session is the later one's. */
export function addUsage(before: AgentUsage, after: AgentUsage): AgentUsage {
  const sum = (a: number | null, b: number | null) => (a === null && b === null ? null : (a ?? 0) + (b ?? 0));
  return {
    costUsd: sum(before.costUsd, after.costUsd),
    inputTokens: sum(before.inputTokens, after.inputTokens),
    outputTokens: sum(before.outputTokens, after.outputTokens),
    turns: sum(before.turns, after.turns),
    sessionId: after.sessionId,
  };
}
