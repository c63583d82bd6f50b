import { environment } from '../environment.js';
import { setTimeout } from 'node:timers';
import type { AgentEnd, Opinion } from '../model/attempt.js';
import type { RunnerSettings } from '../model/settings.js';
import { unreachable } from '../unreachable.js';
import { supervise, type ProcessEnd } from '../process/supervise.js';
import { type Redactor, createRedactorForValues } from '../secrets/redactor.js';
import { openAgentLog } from './agent-log.js';
import { findOpinion } from './claim.js';
import { claudeRunner } from './claude-runner.js';
import { codexRunner } from './codex-runner.js';
import { createCommandRunner } from './command-runner.js';
import { createLineSplitter } from './line-splitter.js';
import { type AgentTask, type RunAgent, type AgentResult, type OutputStream, type Runner } from './runner.js';
import { findAgentError } from './agent-error.js';
import { removeHookVariables } from '../workspace/git.js';

type Cleaner = Pick<Redactor, 'clean' | 'findMasks' | 'exempt'>;

/** How long a program may take to end, in milliseconds. */
export interface EndDelays {
  /** Between SIGTERM and SIGKILL; 5,000 by default. */
  readonly graceMs: number;
  /** Between the completion signal and stopping the process; 5,000 by default. */
  readonly settleMs: number;
}

const TAIL_LINES = 20;
const MAX_SUMMARY_CHARACTERS = 2000;
const MAX_LINE_CHARACTERS = 500;
const MAX_ACTIVITY_CHARACTERS = 300;
const ACTIVITY_INTERVAL_MS = 100;

/**
 * Creates the function that runs one agent to its end and ends all of its processes. Masks the agent's output, which may contain any file that the
 * agent has read.
 */
export function createRunAgent(
  delays: EndDelays = { graceMs: 5000, settleMs: 5000 },
  redactor: Cleaner = createRedactorForValues([]),
): RunAgent {
  return async (task) => {
    const startedAt = performance.now();
    const { processEnd, orphans, tail, errorTail, result } = await runProgram(task, { ...delays, redactor });
    const { claim, finalMessage, usage } = result;
    // A person can continue the session with it, and programs print it like a secret.
    if (usage.sessionId !== null) redactor.exempt(usage.sessionId);
    const end = determineEnd(processEnd, task, { result, errorTail });
    // An answer counts only if its program ended without an error.
    const opinion =
      task.token !== undefined && end.kind === 'completed' ? findOpinion(finalMessage, task.token) : null;
    return {
      end,
      // Masked before it is cut, because half a secret would not be recognized.
      claim: claim && {
        ...claim,
        summary: redactor.clean(claim.summary).slice(0, MAX_SUMMARY_CHARACTERS),
      },
      ...(opinion ? { opinion: maskOpinion(opinion, redactor) } : {}),
      usage,
      denials: result.denials,
      durationMs: Math.round(performance.now() - startedAt),
      tail,
      orphans,
    };
  };
}

function maskOpinion({ file, why, ...opinion }: Opinion, redactor: Cleaner): Opinion {
  const maskLine = (text: string) => formatAsShortLine(redactor.clean(text));
  return { ...opinion, file: file && maskLine(file), why: maskLine(why) };
}

/** Loads the Agent Client Protocol only if an agent uses it. */
async function loadRunner(settings: RunnerSettings): Promise<Runner> {
  switch (settings.kind) {
    case 'claude':
      return claudeRunner;
    case 'codex':
      return codexRunner;
    case 'command':
      return createCommandRunner(settings);
    case 'acp':
      return (await import('./acp-runner.js')).createAcpRunner(settings);
    default:
      return unreachable(settings);
  }
}

/** Returns how the process ended, the last lines of its output, and the last lines of its standard error alone. */
async function runProgram(
  task: AgentTask,
  { redactor, ...delays }: EndDelays & { readonly redactor: Cleaner },
) {
  const runner = await loadRunner(task.runner);
  const { file, args, env, input, passedVariables } = runner.createCommand(task);
  const addedVariables = task.runner.kind === 'command' ? [] : (task.runner.env ?? []);
  const log = openAgentLog(task.logFile, redactor);
  const lines: string[] = [];
  const errorLines: string[] = [];
  let stopTimer: NodeJS.Timeout | undefined;
  const showActivity = throttle(ACTIVITY_INTERVAL_MS, (text) =>
    task.onActivity(formatAsShortLine(redactor.clean(clipLine(text)))),
  );
  // The process may not exit by itself.
  const finish = () => {
    stopTimer ??= setTimeout(() => running.stop(), delays.settleMs);
  };
  const { readLine, protocol, result } = runner.openConversation(task, {
    log: (text) => {
      log.write(Buffer.from(`${text}\n`));
      appendToTail(lines, text);
    },
    show: showActivity,
    finish,
    stop: () => running.stop(),
    clean: (text) => redactor.clean(text),
  });
  const onLine = (line: string, from: OutputStream) => {
    appendToTail(lines, line);
    // While self-heal ends a program, it may report success or its own cancellation, but its work was not done.
    if (running.stopping.aborted) return;
    if (from === 'stderr') appendToTail(errorLines, line);
    readLine?.(line, from);
  };
  const splitters = {
    stdout: createLineSplitter((line) => onLine(line, 'stdout')),
    stderr: createLineSplitter((line) => onLine(line, 'stderr')),
  };
  const running = supervise({
    file,
    args,
    cwd: task.cwd,
    env: {
      ...selectEnv(
        environment(),
        passedVariables === 'everything' ? passedVariables : [...passedVariables, ...addedVariables],
      ),
      ...env,
      SELF_HEAL_CONTEXT: task.contextFile,
      SELF_HEAL_PROMPT: task.promptFile,
      SELF_HEAL_ATTEMPT: String(task.attempt),
    },
    input: protocol?.input ?? input,
    runId: task.runId,
    workDir: task.workDir,
    timeoutMs: task.agent.timeoutMs,
    graceMs: delays.graceMs,
    signal: task.signal,
    onStart: task.onStart,
    onOutput: (chunk, from) => {
      if (protocol && from === 'stdout') return protocol.write(chunk);
      log.write(chunk);
      splitters[from].write(chunk);
    },
    ...(protocol ? { requestExit: () => protocol.cancel() } : {}),
  });
  const { end: processEnd, orphans } = await running.ended;
  protocol?.close();
  splitters.stdout.end();
  splitters.stderr.end();
  clearTimeout(stopTimer);
  await log.close();
  const mask = (output: readonly string[]) =>
    redactor
      .clean(output.join('\n'))
      .split('\n')
      .map((line) => line.slice(0, MAX_LINE_CHARACTERS))
      .join('\n');
  return { processEnd, orphans, tail: mask(lines), errorTail: mask(errorLines), result: result() };
}

function appendToTail(lines: string[], line: string): void {
  lines.push(clipLine(line));
  if (lines.length > TAIL_LINES) lines.shift();
}

/** Keeps more of a line than is shown later, so that half a secret at the cut is never shown. */
function clipLine(line: string): string {
  return line.slice(0, 8 * MAX_LINE_CHARACTERS);
}

function formatAsShortLine(text: string): string {
  return text.replaceAll('\n', ' ').trim().slice(0, MAX_ACTIVITY_CHARACTERS);
}

/** Passes on the first text in each time span; drops the others. */
function throttle(spanMs: number, pass: (text: string) => void): (text: string) => void {
  let lastAt = -Infinity;
  return (text) => {
    const now = performance.now();
    if (now - lastAt < spanMs) return;
    lastAt = now;
    pass(text);
  };
}

/** A program's own error takes precedence over its exit code, but not over self-heal's reason to end it. */
function determineEnd(
  end: ProcessEnd,
  task: AgentTask,
  { result, errorTail }: { readonly result: AgentResult; readonly errorTail: string },
): AgentEnd {
  const { error, isUnfinished = false } = result;
  const createFailure = (exitCode: number): AgentEnd =>
    findAgentError(errorTail, task.agent.runner) ?? { kind: 'exited', exitCode };
  switch (end.kind) {
    case 'timed-out':
      return { kind: 'timed-out', afterMs: task.agent.timeoutMs };
    case 'aborted':
    case 'spawn-failed':
      return end;
    case 'stopped':
      return error ?? (isUnfinished ? createFailure(1) : { kind: 'completed' });
    case 'exited':
      return (
        error ?? (end.exitCode === 0 && !isUnfinished ? { kind: 'completed' } : createFailure(end.exitCode))
      );
    case 'signalled':
      return error ?? end;
    default:
      return unreachable(end);
  }
}

/** The variables that every program needs to find its files and to reach its provider. */
const basicVariables = [
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
export function selectEnv(
  env: NodeJS.ProcessEnv,
  passes: readonly string[] | 'everything',
): NodeJS.ProcessEnv {
  const withoutGitHook = removeHookVariables(env);
  if (passes === 'everything') return withoutGitHook;
  const names = [...basicVariables, ...passes].map((name) => name.toUpperCase());
  const mayPass = (variable: string) =>
    names.some((name) => (name.endsWith('*') ? variable.startsWith(name.slice(0, -1)) : variable === name));
  return Object.fromEntries(Object.entries(withoutGitHook).filter(([name]) => mayPass(name.toUpperCase())));
}
