import { environment } from '../environment.js';
import { setTimeout } from 'node:timers';
import type { AgentEnd, Opinion } from '../model/attempt.js';
import type { RunnerSettings } from '../model/settings.js';
import { unreachable } from '../unreachable.js';
import { supervise, type ProcessEnd } from '../process/supervise.js';
import { type Redactor, redactorOf } from '../secrets/redactor.js';
import { openAgentLog } from './agent-log.js';
import { readOpinion } from './claim.js';
import { claudeRunner } from './claude-runner.js';
import { codexRunner } from './codex-runner.js';
import { commandRunner } from './command-runner.js';
import { lineSplitter } from './line-splitter.js';
import {
  type AgentTask,
  type RunAgent,
  type AgentResult,
  noMeaning,
  nothingSaid,
  type OutputStream,
  type Runner,
} from './runner.js';
import { agentErrorInText } from './agent-error.js';
import { withoutRepository } from '../workspace/git.js';

type Cleaner = Pick<Redactor, 'clean' | 'masksIn'>;

/** The waits for the end of a program, in milliseconds. */
export interface Patience {
  /** Between TERM and KILL; 5,000 by default. */
  readonly graceMs: number;
  /** Between the completion signal and stopping the process; 5,000 by default. */
  readonly settleMs: number;
}

const TAIL_LINES = 20;
const MAX_SUMMARY_CHARACTERS = 2000;
const MAX_LINE_CHARACTERS = 500;
const MAX_ACTIVITY_CHARACTERS = 300;
const ACTIVITY_EVERY_MS = 100;

/**
 * Creates the function that runs one agent to its end and leaves no process of it behind. The agent's output is masked, since it may contain
 * anything that the agent has read.
 */
export function createRunAgent(
  patience: Patience = { graceMs: 5000, settleMs: 5000 },
  redactor: Cleaner = redactorOf([]),
): RunAgent {
  return async (task) => {
    const startedAt = performance.now();
    const { processEnd, orphans, tail, errorTail, result } = await runToEnd(task, { ...patience, redactor });
    const { claim, final } = result;
    const end = agentEndOf(processEnd, task, { result, errorTail });
    // An answer counts only if the program that gave it ended well.
    const opinion =
      task.token !== undefined && end.kind === 'completed' ? readOpinion(final, task.token) : null;
    return {
      end,
      // Masked before it is cut, because half a secret would not be recognized.
      claim: claim && {
        ...claim,
        summary: redactor.clean(claim.summary).slice(0, MAX_SUMMARY_CHARACTERS),
      },
      ...(opinion ? { opinion: maskedOpinion(opinion, redactor) } : {}),
      usage: result.usage,
      denials: result.denials,
      durationMs: Math.round(performance.now() - startedAt),
      tail,
      orphans,
    };
  };
}

function maskedOpinion({ file, why, ...opinion }: Opinion, redactor: Cleaner): Opinion {
  const short = (text: string) => shortLine(redactor.clean(text));
  return { ...opinion, file: file && short(file), why: short(why) };
}

/** Only who uses the Agent Client Protocol loads it. */
async function runnerOf(settings: RunnerSettings): Promise<Runner> {
  switch (settings.kind) {
    case 'claude':
      return claudeRunner;
    case 'codex':
      return codexRunner;
    case 'command':
      return commandRunner(settings);
    case 'acp':
      return (await import('./acp-runner.js')).acpRunner(settings);
    default:
      return unreachable(settings);
  }
}

/** Returns how the process ended, the last lines of its output, and the last lines of its standard error alone. */
async function runToEnd(
  task: AgentTask,
  { redactor, ...patience }: Patience & { readonly redactor: Cleaner },
) {
  const runner = await runnerOf(task.runner);
  const { file, args, env, input, passes } = runner.command(task);
  const addedVariables = task.runner.kind === 'command' ? [] : (task.runner.env ?? []);
  const log = openAgentLog(task.logFile, redactor);
  const lines: string[] = [];
  const errorLines: string[] = [];
  let settling: NodeJS.Timeout | undefined;
  const showActivity = atMostEvery(ACTIVITY_EVERY_MS, (text) =>
    task.onActivity(shortLine(redactor.clean(beginning(text)))),
  );
  // The process may not exit by itself.
  const finish = () => {
    settling ??= setTimeout(() => running.stop(), patience.settleMs);
  };
  const reader = runner.reader?.(task.token);
  const onLine = (line: string, from: OutputStream) => {
    keepLast(lines, line);
    // A program that is being ended reports success or its own cancellation, neither of which is the end of its work.
    if (running.stopping.aborted) return;
    if (from === 'stderr') keepLast(errorLines, line);
    const { activity, complete, hopeless } = reader?.line(line, from) ?? noMeaning;
    if (activity !== null) showActivity(activity);
    if (hopeless) running.stop();
    if (complete) finish();
  };
  const note = (text: string) => {
    log.write(Buffer.from(`${text}\n`));
    keepLast(lines, text);
  };
  const conversation = runner.converse?.(task, {
    note,
    show: (text) => {
      note(text);
      showActivity(text);
    },
    finish,
    stop: () => running.stop(),
    clean: (text) => redactor.clean(text),
  });
  const splitters = {
    stdout: lineSplitter((line) => onLine(line, 'stdout')),
    stderr: lineSplitter((line) => onLine(line, 'stderr')),
  };
  const running = supervise({
    file,
    args,
    cwd: task.cwd,
    env: {
      ...passedEnv(environment(), passes === 'everything' ? passes : [...passes, ...addedVariables]),
      ...env,
      SELF_HEAL_CONTEXT: task.contextFile,
      SELF_HEAL_PROMPT: task.promptFile,
      SELF_HEAL_ATTEMPT: String(task.attempt),
    },
    input: conversation?.input ?? input,
    runId: task.runId,
    workDir: task.workDir,
    timeoutMs: task.agent.timeoutMs,
    graceMs: patience.graceMs,
    signal: task.signal,
    onStart: task.onStart,
    onOutput: (chunk, from) => {
      if (conversation && from === 'stdout') return conversation.write(chunk);
      log.write(chunk);
      splitters[from].write(chunk);
    },
    ...(conversation ? { askToEnd: () => conversation.cancel() } : {}),
  });
  const { end: processEnd, orphans } = await running.ended;
  conversation?.close();
  clearTimeout(settling);
  splitters.stdout.end();
  splitters.stderr.end();
  clearTimeout(settling);
  await log.close();
  const masked = (output: readonly string[]) => shortLines(redactor.clean(output.join('\n')));
  const result = conversation?.result() ?? reader?.result() ?? nothingSaid;
  return { processEnd, orphans, tail: masked(lines), errorTail: masked(errorLines), result };
}

function keepLast(lines: string[], line: string): void {
  lines.push(beginning(line));
  if (lines.length > TAIL_LINES) lines.shift();
}

/** Keeps more of a line than is shown later, so that a secret that is cut here is not shown in part. */
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

/** Passes on the first text in each time span and drops the others. */
function atMostEvery(spanMs: number, pass: (text: string) => void): (text: string) => void {
  let last = -Infinity;
  return (text) => {
    const now = performance.now();
    if (now - last < spanMs) return;
    last = now;
    pass(text);
  };
}

/** A program's own error takes precedence over its exit code, but not over self-heal's reason to end it. */
function agentEndOf(
  end: ProcessEnd,
  task: AgentTask,
  { result, errorTail }: { readonly result: AgentResult; readonly errorTail: string },
): AgentEnd {
  const { error, isUnfinished = false } = result;
  const failed = (exitCode: number): AgentEnd =>
    agentErrorInText(errorTail, task.agent.runner) ?? { kind: 'exited', exitCode };
  switch (end.kind) {
    case 'timed-out':
      return { kind: 'timed-out', afterMs: task.agent.timeoutMs };
    case 'aborted':
    case 'spawn-failed':
      return end;
    case 'stopped':
      return error ?? (isUnfinished ? failed(1) : { kind: 'completed' });
    case 'exited':
      return error ?? (end.exitCode === 0 && !isUnfinished ? { kind: 'completed' } : failed(end.exitCode));
    case 'signalled':
      return error ?? end;
    default:
      return unreachable(end);
  }
}

/** The variables that every program needs to run, to find its files and to reach its provider, on any system. */
const basics = [
  'PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TERM COLORTERM NO_COLOR TMPDIR TMP TEMP XDG_* CI',
  'SSH_AUTH_SOCK DBUS_SESSION_BUS_ADDRESS HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY',
  'NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR NVM_* VOLTA_* FNM_* ASDF_* PLAYWRIGHT_BROWSERS_PATH IS_SANDBOX',
  'SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86)',
  'USERPROFILE USERNAME HOMEDRIVE HOMEPATH NUMBER_OF_PROCESSORS',
].flatMap((line) => line.split(' '));

/**
 * Returns the environment variables of a program. This is an allow-list, because an agent's tools inherit all of them, and a model must not see
 * the project's keys and passwords. A name that ends in `*` matches all names with that prefix. The variables of a git hook that runs self-heal
 * are left out: with them, the agent's git commands would work on the user's repository instead of its copy (HN-1).
 */
export function passedEnv(
  env: NodeJS.ProcessEnv,
  passes: readonly string[] | 'everything',
): NodeJS.ProcessEnv {
  const ours = withoutRepository(env);
  if (passes === 'everything') return ours;
  const names = [...basics, ...passes].map((name) => name.toUpperCase());
  const isPassed = (variable: string) =>
    names.some((name) => (name.endsWith('*') ? variable.startsWith(name.slice(0, -1)) : variable === name));
  return Object.fromEntries(Object.entries(ours).filter(([name]) => isPassed(name.toUpperCase())));
}
