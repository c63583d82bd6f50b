import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildContext } from './agents/build-context.js';
import { expandedPrompt } from './agents/expand-command.js';
import { renderPrompt } from './agents/prompt.js';
import { reduceContext } from './agents/reduce-context.js';
import type { AgentRun, Attempt } from './core/attempt.js';
import type { Cause } from './core/cause.js';
import type { AgentSettings, RunnerSettings } from './core/settings.js';
import type { Start } from './restart-agent.js';
import type { Session } from './session.js';
import type { Memory } from './store/ledger.js';

/** What to deploy, on what, and after what. */
export interface DeployRequest {
  readonly cause: Cause;
  readonly agent: string;
  readonly n: number;
  readonly previous: readonly Attempt[];
  /** What earlier runs know of the failure; absent for a prompt that is only shown. */
  readonly known?: Memory;
}

/** The files in which an agent finds its work, written before it starts. */
interface Work {
  /** With the slash command as its first characters. */
  readonly prompt: string;
  readonly contextFile: string;
  /** Holds what the program is really sent. */
  readonly promptFile: string;
  readonly sent: string;
}

/** The session of the last attempt, for the same agent with the same program to go on with (AG-9). */
export function sessionOf(session: Session, { agent, previous }: DeployRequest): string | null {
  const last = previous.findLast((one) => one.agent !== null);
  const runner = session.settings.agents[agent]?.runner;
  return last?.agent === agent && last.runner === runner ? (last.usage?.sessionId ?? null) : null;
}

/** Starts an agent once. `file` is the attempt's path without an ending. */
export async function startAgent(
  session: Session,
  request: DeployRequest,
  start: Start & { readonly file: string },
): Promise<AgentRun> {
  const { cause, n } = request;
  const { agent, runner } = programOf(session, request);
  const { prompt, sent, contextFile, promptFile } = await writeWork(session, request, start);
  // The failure's own prompt.md is written anew for the next attempt.
  await writeFile(`${start.file}.prompt.md`, sent);
  const logFile = `${start.file}.log`;
  const started = {
    causeId: cause.id,
    attempt: n,
    agent: agent.name,
    slashCommand: agent.slashCommand,
    runner: agent.runner,
    timeoutMs: agent.timeoutMs,
    logFile: path.relative(session.cwd, logFile).replaceAll(path.sep, '/'),
  };
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
    onStart: (pid) => session.bus.emit({ type: 'agent.started', ...started, pid }),
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
  const { agent, runner } = programOf(session, request);
  const built = await buildContext({
    settings: session.settings,
    root: session.cwd,
    runId: session.folder.runId,
    runDir: session.folder.dir,
    cause: request.cause,
    attempt: request.n,
    previousAttempts: [...(request.known?.tried ?? []), ...request.previous],
    guidance: request.known?.guidance ?? null,
    earlierFix: request.known?.fix ?? null,
  });
  const context = session.redactor.deep(reduced ? reduceContext(built) : built);
  const prompt = renderPrompt(context, { contextFile, slashCommand: agent.slashCommand });
  const sent =
    runner.kind === 'command'
      ? prompt
      : session.redactor.clean(await expandedPrompt(runner.kind, prompt, session.cwd));
  await writeFile(contextFile, `${JSON.stringify(context, null, 2)}\n`);
  await writeFile(promptFile, sent);
  return { prompt, sent, contextFile, promptFile };
}

function programOf(
  session: Session,
  request: DeployRequest,
): { agent: AgentSettings; runner: RunnerSettings } {
  const agent = session.settings.agents[request.agent];
  const runner = agent && session.settings.runners[agent.runner];
  if (!agent || !runner) throw new Error(`The settings hold no runner for agent ${request.agent}`);
  return { agent, runner };
}
