import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildContext } from './agents/build-context.js';
import { renderPrompt } from './agents/prompt.js';
import { reduceContext } from './agents/reduce-context.js';
import { runnerOf } from './agents/runners/runner-of.js';
import { expandCommand } from './agents/slash-command.js';
import type { AgentRun, Attempt } from './core/attempt.js';
import type { Cause } from './core/cause.js';
import { restartAfter } from './core/restart.js';
import type { AgentSettings, RunnerSettings } from './core/settings.js';
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
  readonly prompt: string;
  readonly contextFile: string;
  readonly promptFile: string;
}

/**
 * Runs an agent to its end, and again where its own API was in trouble (AG-7): after a wait, or with less to read. None of that costs
 * a heal attempt; what does not get better is for a person. `file` is the attempt's, without an ending.
 */
export async function startAgent(session: Session, request: DeployRequest, file: string): Promise<AgentRun> {
  let reduced = false;
  let costUsd: number | null = null;
  for (let restarts = 0; ; restarts += 1) {
    const run = await startOnce(session, request, { file, restarts, reduced });
    costUsd = sum(costUsd, run.usage.costUsd);
    const ended = { ...run, usage: { ...run.usage, costUsd } };
    const { ending } = run;
    if (ending.kind !== 'troubled') return ended;
    if (session.signal.aborted) return { ...ended, ending: { kind: 'aborted' } };
    const { trouble, reason } = ending;
    const random = session.clock.random();
    const next = restartAfter({ trouble, restarts, reduced, random }, session.settings.retries);
    if (next.kind === 'give-up') {
      const remedy = `Try again later (${next.reason}).`;
      return { ...ended, ending: { kind: 'unusable', reason, remedy } };
    }
    ({ reduced } = next);
    const { delayMs } = next;
    session.bus.emit({
      type: 'agent.retrying',
      causeId: request.cause.id,
      attempt: request.n,
      delayMs,
      reason,
    });
    await session.clock.sleep(delayMs, session.signal);
    if (session.signal.aborted) return { ...ended, ending: { kind: 'aborted' } };
  }
}

interface Start {
  file: string;
  restarts: number;
  reduced: boolean;
}

async function startOnce(session: Session, request: DeployRequest, start: Start): Promise<AgentRun> {
  const { cause, n } = request;
  const { agent, runner } = programOf(session, request);
  const { prompt, contextFile, promptFile } = await writeWork(session, request, start.reduced);
  // The failure's own prompt.md is written anew for the next attempt.
  await writeFile(`${start.file}.prompt.md`, prompt);
  const logFile = `${start.file}${start.restarts === 0 ? '' : `.restart-${start.restarts}`}.log`;
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
    resume: start.reduced ? null : sessionToContinue(agent, request.previous),
    signal: session.signal,
    onStart: (pid) => session.bus.emit({ type: 'agent.started', ...started, pid }),
    onActivity: (text) => session.bus.emit({ type: 'agent.activity', causeId: cause.id, text }),
  });
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

/** An agent that failed goes on where it was: it knows the code by now, and is told why its fix did not hold (AG-9). */
function sessionToContinue({ name }: AgentSettings, previous: readonly Attempt[]): string | null {
  const last = previous.findLast((one) => one.agent === name);
  return last?.outcome === 'completed' ? (last.usage?.sessionId ?? null) : null;
}

/** Writes context.json and prompt.md into the failure's folder, where `inspect` finds what the agent was given. */
export async function writeWork(session: Session, request: DeployRequest, reduced = false): Promise<Work> {
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
  const rendered = renderPrompt(context, { contextFile, slashCommand: agent.slashCommand });
  const prompt =
    runner.kind === 'command' || runnerOf(runner).expandsCommands
      ? rendered
      : await expandCommand(runner.kind, rendered, { cwd: session.cwd });
  await writeFile(contextFile, `${JSON.stringify(context, null, 2)}\n`);
  await writeFile(promptFile, prompt);
  return { prompt, contextFile, promptFile };
}

function sum(before: number | null, more: number | null): number | null {
  return more === null ? before : (before ?? 0) + more;
}
