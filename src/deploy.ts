import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildContext } from './agents/build-context.js';
import { renderPrompt } from './agents/prompt.js';
import { reduceContext } from './agents/reduce-context.js';
import type { AgentRun, Attempt, FileChange } from './core/attempt.js';
import type { Cause } from './core/cause.js';
import { unreachable } from './core/unreachable.js';
import { runWithRestarts, type SettledRun, type Start } from './restart-agent.js';
import type { Session } from './session.js';
import type { Checkpoint } from './workspace/workspace.js';

/** One agent's work, not yet judged, with the states of the tree around it. */
export interface Deployment {
  readonly attempt: Attempt;
  readonly before: Checkpoint | null;
  readonly after: Checkpoint | null;
}

/** What to deploy, on what, and after what. */
export interface DeployRequest {
  readonly cause: Cause;
  readonly agent: string;
  readonly n: number;
  readonly previous: readonly Attempt[];
}

/** The files in which an agent finds its work, written before it starts. */
interface Work {
  readonly prompt: string;
  readonly contextFile: string;
  readonly promptFile: string;
}

/** Runs one agent on a cause, between two checkpoints of the tree. */
export async function deploy(session: Session, request: DeployRequest): Promise<Deployment> {
  const before = (await session.workspace?.checkpoint()) ?? null;
  session.spending.agentStarted(request.cause);
  const file = await session.folder.attempt(session.spending.totals().agentRuns);
  const run = await runWithRestarts(session, {
    cause: request.cause,
    n: request.n,
    runner: session.settings.agents[request.agent]?.runner ?? '',
    resume: sessionOf(session, request),
    start: (start) => startAgent(session, request, start),
  });
  const after = (await session.workspace?.checkpoint()) ?? null;
  const files = before && after && session.workspace ? await session.workspace.changes(before, after) : [];
  const patch = files.length > 0 ? await keepPatch(session, { before, after, file }) : null;
  const attempt = attemptOf({ session, request, run, files, patch });
  session.spending.attemptEnded(attempt);
  announceEnd(session, request, { attempt, run });
  return { attempt, before, after };
}

/** The session of the last attempt, for the same agent with the same program to go on with (AG-9). */
function sessionOf(session: Session, { agent, previous }: DeployRequest): string | null {
  const last = previous.findLast((one) => one.agent !== null);
  const runner = session.settings.agents[agent]?.runner;
  return last?.agent === agent && last.runner === runner ? (last.usage?.sessionId ?? null) : null;
}

async function startAgent(session: Session, request: DeployRequest, start: Start): Promise<AgentRun> {
  const { cause, n } = request;
  const agent = session.settings.agents[request.agent];
  const runner = agent && session.settings.runners[agent.runner];
  if (!agent || !runner) throw new Error(`The settings hold no runner for agent ${request.agent}`);
  const { prompt, contextFile, promptFile } = await writeWork(session, request, start);
  const logFile = `${await session.folder.attempt(session.spending.totals().agentRuns)}.log`;
  const started = {
    causeId: cause.id,
    attempt: n,
    agent: agent.name,
    slashCommand: agent.slashCommand,
    logFile: path.relative(session.cwd, logFile).replaceAll(path.sep, '/'),
  };
  const announce = (pid: number | null) =>
    session.bus.emit({
      type: 'agent.started',
      ...started,
      runner: agent.runner,
      timeoutMs: agent.timeoutMs,
      pid,
    });
  return session.runAgent({
    agent,
    runner,
    prompt,
    contextFile,
    promptFile,
    screenshot: cause.lead.evidence.screenshot,
    logFile,
    cwd: session.cwd,
    runId: session.folder.runId,
    attempt: n,
    resume: start.resume,
    signal: session.signal,
    onStart: announce,
    onActivity: (text) => session.bus.emit({ type: 'agent.activity', causeId: cause.id, text }),
  });
}

/** Writes context.json and prompt.md into the failure's folder, where `inspect` finds what the agent was given. */
export async function writeWork(
  session: Session,
  request: DeployRequest,
  { reduced }: Pick<Start, 'reduced'> = { reduced: false },
): Promise<Work> {
  const dir = await session.folder.failure(request.cause.lead.n);
  const contextFile = path.join(dir, 'context.json');
  const promptFile = path.join(dir, 'prompt.md');
  const agent = session.settings.agents[request.agent];
  const whole = await buildContext({
    settings: session.settings,
    root: session.cwd,
    runId: session.folder.runId,
    runDir: session.folder.dir,
    cause: request.cause,
    attempt: request.n,
    previousAttempts: request.previous,
  });
  const context = reduced ? reduceContext(whole) : whole;
  const prompt = renderPrompt(context, { contextFile, slashCommand: agent?.slashCommand ?? '' });
  await writeFile(contextFile, `${JSON.stringify(context, null, 2)}\n`);
  await writeFile(promptFile, prompt);
  return { prompt, contextFile, promptFile };
}

interface PatchRequest {
  before: Checkpoint | null;
  after: Checkpoint | null;
  file: string;
}

async function keepPatch(session: Session, { before, after, file }: PatchRequest): Promise<string | null> {
  if (!session.workspace || !before || !after) return null;
  await writeFile(`${file}.patch`, await session.workspace.patch(before, after));
  return path.relative(session.folder.dir, `${file}.patch`).replaceAll(path.sep, '/');
}

interface Ended {
  session: Session;
  request: DeployRequest;
  run: SettledRun;
  files: readonly FileChange[];
  patch: string | null;
}

function attemptOf({ session, request, run, files, patch }: Ended): Attempt {
  const agent = session.settings.agents[request.agent];
  const outcome = outcomeOf(run, files, session.workspace !== null);
  return {
    n: request.n,
    agent: request.agent,
    slashCommand: agent?.slashCommand ?? null,
    runner: agent?.runner ?? null,
    outcome,
    claim: run.claim,
    usage: run.usage,
    judged: 'not-judged',
    durationMs: run.durationMs,
    files,
    patch,
    takenBack: false,
    failedBecause: troubleOf(run, outcome),
  };
}

/** Joins how the process ended with what happened to the files (AG-8); blind to files, an agent has the benefit of the doubt. */
function outcomeOf(run: SettledRun, files: readonly FileChange[], sawFiles: boolean): Attempt['outcome'] {
  if (run.ending.kind !== 'completed' || files.length > 0 || !sawFiles) return run.ending.kind;
  return run.denials.length > 0 ? 'denied' : 'unchanged';
}

function troubleOf({ ending, claim }: SettledRun, outcome: Attempt['outcome']): string | null {
  switch (ending.kind) {
    case 'completed':
      if (outcome === 'denied') return 'every tool call was denied and no file changed';
      if (outcome === 'unchanged')
        return `the agent changed no file${claim ? ` (it said: ${claim.status})` : ''}`;
      return null;
    case 'exited':
      return `the agent exited with code ${ending.exitCode}`;
    case 'signalled':
      return `the agent was ended by ${ending.signal}`;
    case 'timed-out':
      return `the agent did not finish within ${Math.round(ending.afterMs / 1000)} s`;
    case 'spawn-failed':
      return `the agent could not be started: ${ending.reason}`;
    case 'aborted':
      return 'interrupted';
    case 'limited':
      return `the agent met its own limit: ${ending.reason}`;
    case 'unusable':
      return `${ending.reason}. ${ending.remedy}`;
    default:
      return unreachable(ending);
  }
}

function announceEnd(
  session: Session,
  request: DeployRequest,
  ended: { attempt: Attempt; run: AgentRun },
): void {
  session.bus.emit({
    type: 'agent.ended',
    causeId: request.cause.id,
    attempt: request.n,
    outcome: ended.attempt.outcome,
    durationMs: ended.run.durationMs,
    costUsd: ended.run.usage.costUsd,
    filesChanged: ended.attempt.files.length,
    leftovers: ended.run.leftovers,
  });
}
