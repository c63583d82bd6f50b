import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers';
import { agentTroubleOf } from '../core/agent-trouble.js';
import type { AgentEnding } from '../core/attempt.js';
import type { RunnerSettings } from '../core/settings.js';
import { unreachable } from '../core/unreachable.js';
import { cleanText } from '../evidence/clean-text.js';
import { supervise, type Ending, type Supervised } from '../process/supervise.js';
import { openAgentLog } from './agent-log.js';
import { lineSplitter } from './line-splitter.js';
import type { AgentTask, RunAgent } from './run-agent.js';
import { agentEnvironment } from './agent-environment.js';
import type { AgentResult, OutputReader } from './runner.js';
import { runnerOf } from './runners/runner-of.js';
import { endingOfTrouble } from './trouble.js';

/** How patient we are with programs, in milliseconds. */
export interface Patience {
  /** Between TERM and KILL; default 5,000. */
  readonly graceMs: number;
  /** Between the completion signal and the end of the process; default 5,000. */
  readonly settleMs: number;
}

const TAIL_LINES = 20;
const MAX_LINE_CHARACTERS = 500;
const MAX_ACTIVITY_CHARACTERS = 300;
const ACTIVITY_EVERY_MS = 100;

/**
 * Makes the step that runs one agent to its end, with its log, its claim, and nothing of it left behind. `clean` is a
 * `Redactor`'s: what an agent prints may hold what it has read.
 */
export function createRunAgent(
  patience: Patience = { graceMs: 5000, settleMs: 5000 },
  clean: (text: string) => string = cleanText,
): RunAgent {
  return async (task) => {
    const startedAt = performance.now();
    const reader = runnerOf(task.runner).reader();
    const { ended, tail } = await runToEnd(task, reader, { ...patience, clean });
    const result = reader.result();
    return {
      ending: endingOf(ended.ending, result, task),
      claim: result.claim,
      usage: result.usage,
      denials: result.denials,
      durationMs: Math.round(performance.now() - startedAt),
      tail,
      leftovers: ended.leftovers,
    };
  };
}

interface RanToEnd {
  ended: Awaited<Supervised['ended']>;
  tail: string;
}

interface How extends Patience {
  readonly clean: (text: string) => string;
}

async function runToEnd(
  task: AgentTask,
  reader: OutputReader,
  { clean, ...patience }: How,
): Promise<RanToEnd> {
  const { runner } = task;
  const extraArgs = runner.kind === 'command' ? [] : runner.args;
  const { file, args, env, input } = runnerOf(runner).command({ ...task, extraArgs });
  const log = openAgentLog(task.logFile, clean);
  const lines: string[] = [];
  let settling: NodeJS.Timeout | undefined;
  const say = atMostEvery(ACTIVITY_EVERY_MS, (text) => task.onActivity(shortLine(clean(beginning(text)))));
  const splitter = lineSplitter((line) => {
    lines.push(beginning(line));
    if (lines.length > TAIL_LINES) lines.shift();
    const { activity, complete } = reader.line(line);
    if (activity !== null) say(activity);
    // The work is done; a process that stays alive behind it is ended, not waited for.
    if (complete) settling ??= setTimeout(() => running.stop(), patience.settleMs);
  });
  const running = supervise({
    file,
    args,
    cwd: task.cwd,
    env: { ...givenEnv(runner), ...env, ...ownEnv(task) },
    input,
    marker: { name: 'SELF_HEAL_AGENT_ID', value: randomUUID() },
    timeoutMs: task.agent.timeoutMs,
    graceMs: patience.graceMs,
    signal: task.signal,
    onStart: task.onStart,
    onOutput: (chunk) => {
      log.write(chunk);
      splitter.write(chunk);
    },
  });
  const ended = await running.ended;
  clearTimeout(settling);
  splitter.end();
  clearTimeout(settling);
  await log.close();
  return { ended, tail: shortLines(clean(lines.join('\n'))) };
}

/** A program of the project's own gets all of the environment, one that is built in what it needs. */
function givenEnv(runner: RunnerSettings): NodeJS.ProcessEnv {
  return runner.kind === 'command' ? process.env : agentEnvironment(runner.kind, process.env, runner.env);
}

function ownEnv({ contextFile, promptFile, runId, attempt }: AgentTask): Record<string, string> {
  return {
    SELF_HEAL_CONTEXT: contextFile,
    SELF_HEAL_PROMPT: promptFile,
    SELF_HEAL_RUN_ID: runId,
    SELF_HEAL_ATTEMPT: String(attempt),
  };
}

/** More of a line than is kept of it: a secret that this cuts in two is cut away later. */
function beginning(line: string): string {
  return line.slice(0, 8 * MAX_LINE_CHARACTERS);
}

function shortLines(text: string): string {
  const lines = text.split('\n').map((line) => line.slice(0, MAX_LINE_CHARACTERS));
  return lines.join('\n');
}

function shortLine(text: string): string {
  return text.replaceAll('\n', ' ').trim().slice(0, MAX_ACTIVITY_CHARACTERS);
}

/** Lets the first of several texts through in each span of time. */
function atMostEvery(spanMs: number, say: (text: string) => void): (text: string) => void {
  let last = -Infinity;
  return (text) => {
    const now = performance.now();
    if (now - last < spanMs) return;
    last = now;
    say(text);
  };
}

/** What the program says of itself comes first where its exit code hides it, but never before our own reason to end it. */
function endingOf(ending: Ending, result: AgentResult, task: AgentTask): AgentEnding {
  switch (ending.kind) {
    case 'timed-out':
      return { kind: 'timed-out', afterMs: task.agent.timeoutMs };
    case 'aborted':
    case 'spawn-failed':
      return ending;
    case 'stopped':
      return saidEnding(result) ?? { kind: 'completed' };
    case 'exited':
      return (
        saidEnding(result) ??
        (ending.exitCode === 0 ? { kind: 'completed' } : brokenOff(ending, result, task))
      );
    case 'signalled':
      return saidEnding(result) ?? ending;
    default:
      return unreachable(ending);
  }
}

function saidEnding({ trouble }: AgentResult): AgentEnding | null {
  return trouble === null || trouble.kind === 'silent' ? null : trouble;
}

/** A program that ended badly and said so in plain text only. What nobody recognises is a crash, not a refusal (AG-5). */
function brokenOff(
  ending: Extract<AgentEnding, { kind: 'exited' }>,
  { trouble }: AgentResult,
  { runner }: AgentTask,
): AgentEnding {
  if (trouble?.kind !== 'silent' || runner.kind === 'command') return ending;
  return agentTroubleOf(trouble.text).rule === null ? ending : endingOfTrouble(runner.kind, trouble.text);
}
