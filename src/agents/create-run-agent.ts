import { setTimeout } from 'node:timers';
import type { AgentClaim, AgentEnd, Opinion } from '../model/attempt.js';
import type { BuiltInRunner } from '../model/built-in.js';
import type { RunnerSettings } from '../model/settings.js';
import { unreachable } from '../unreachable.js';
import { supervise, type ProcessEnd, type Supervised } from '../process/supervise.js';
import { type Redactor, redactorOf } from '../secrets/redactor.js';
import { openAgentLog } from './agent-log.js';
import { claudeRunner } from './claude-runner.js';
import { codexRunner } from './codex-runner.js';
import { commandRunner } from './command-runner.js';
import { copilotRunner } from './copilot-runner.js';
import { geminiRunner } from './gemini-runner.js';
import { lineSplitter } from './line-splitter.js';
import { opencodeRunner } from './opencode-runner.js';
import type { AgentTask, RunAgent, AgentResult, OutputReader, OutputStream, Runner } from './runner.js';
import { agentErrorInText, unusableBecause } from './agent-error.js';
import { withoutRepository } from '../workspace/git.js';

type Cleaner = Pick<Redactor, 'clean' | 'masksIn'>;

/** How long to wait for programs to end, in milliseconds. */
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
 * Creates the step that runs one agent to its end, with its log and its claim, and leaves nothing of it behind. Its output is masked, since it
 * may contain anything that the agent has read.
 */
export function createRunAgent(
  patience: Patience = { graceMs: 5000, settleMs: 5000 },
  redactor: Cleaner = redactorOf([]),
): RunAgent {
  return async (task) => {
    const startedAt = performance.now();
    const reader = runnerOf(task.runner).reader();
    const { ended, tail, errorTail } = await runToEnd(task, reader, { ...patience, redactor });
    const result = reader.result();
    return {
      end: agentEndOf({ end: ended.end, result, errorTail }, task),
      claim: result.claim && { ...result.claim, summary: summaryOf(result.claim, redactor) },
      ...(result.opinion ? { opinion: cleaned(result.opinion, redactor) } : {}),
      usage: result.usage,
      denials: result.denials,
      durationMs: Math.round(performance.now() - startedAt),
      tail,
      orphans: ended.orphans,
    };
  };
}

/** Masks before cutting, because half a secret would not be recognized. */
function summaryOf({ summary }: AgentClaim, redactor: Cleaner): string {
  return redactor.clean(summary).slice(0, MAX_SUMMARY_CHARACTERS);
}

function cleaned({ file, why, ...opinion }: Opinion, redactor: Cleaner): Opinion {
  const short = (text: string) => shortLine(redactor.clean(text));
  return { ...opinion, file: file && short(file), why: short(why) };
}

const builtIn: Readonly<Record<BuiltInRunner, Runner>> = {
  claude: claudeRunner,
  codex: codexRunner,
  gemini: geminiRunner,
  opencode: opencodeRunner,
  copilot: copilotRunner,
};

function runnerOf(settings: RunnerSettings): Runner {
  return settings.kind === 'command' ? commandRunner(settings) : builtIn[settings.kind];
}

/** Returns the environment variables that agents.yaml adds to those of a built-in runner. */
function extraEnv(runner: RunnerSettings): readonly string[] {
  return runner.kind === 'command' ? [] : (runner.env ?? []);
}

interface RanToEnd {
  ended: Awaited<Supervised['ended']>;
  tail: string;
  /** The last lines of standard error only. */
  errorTail: string;
}

interface How extends Patience {
  readonly redactor: Cleaner;
}

async function runToEnd(
  task: AgentTask,
  reader: OutputReader,
  { redactor, ...patience }: How,
): Promise<RanToEnd> {
  const { file, args, env, input, passes } = runnerOf(task.runner).command(task);
  const log = openAgentLog(task.logFile, redactor);
  const lines: string[] = [];
  const errorLines: string[] = [];
  let settling: NodeJS.Timeout | undefined;
  const say = atMostEvery(ACTIVITY_EVERY_MS, (text) =>
    task.onActivity(shortLine(redactor.clean(beginning(text)))),
  );
  const onLine = (line: string, from: OutputStream) => {
    keepLast(lines, line);
    // A program that is being ended reports success, or its own cancellation: neither is how its work ended.
    if (running.stopping.aborted) return;
    if (from === 'stderr') keepLast(errorLines, line);
    const { activity, complete, hopeless } = reader.line(line, from);
    if (activity !== null) say(activity);
    if (hopeless) running.stop();
    // The work is done, so a process that does not exit by itself is ended.
    if (complete) settling ??= setTimeout(() => running.stop(), patience.settleMs);
  };
  const splitters = {
    stdout: lineSplitter((line) => onLine(line, 'stdout')),
    stderr: lineSplitter((line) => onLine(line, 'stderr')),
  };
  const running = supervise({
    file,
    args,
    cwd: task.cwd,
    env: {
      ...passedEnv(process.env, passes === 'everything' ? passes : [...passes, ...extraEnv(task.runner)]),
      ...env,
      ...ownEnv(task),
    },
    input,
    runId: task.runId,
    workDir: task.workDir,
    timeoutMs: task.agent.timeoutMs,
    graceMs: patience.graceMs,
    signal: task.signal,
    onStart: task.onStart,
    onOutput: (chunk, from) => {
      log.write(chunk);
      splitters[from].write(chunk);
    },
  });
  const ended = await running.ended;
  clearTimeout(settling);
  splitters.stdout.end();
  splitters.stderr.end();
  clearTimeout(settling);
  await log.close();
  const shown = (some: readonly string[]) => shortLines(redactor.clean(some.join('\n')));
  return { ended, tail: shown(lines), errorTail: shown(errorLines) };
}

function keepLast(lines: string[], line: string): void {
  lines.push(beginning(line));
  if (lines.length > TAIL_LINES) lines.shift();
}

function ownEnv({ contextFile, promptFile, attempt }: AgentTask): Record<string, string> {
  return {
    SELF_HEAL_CONTEXT: contextFile,
    SELF_HEAL_PROMPT: promptFile,
    SELF_HEAL_ATTEMPT: String(attempt),
  };
}

/** Keeps more of a line than is shown later, so that a secret that is cut in half here is cut off there. */
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
function atMostEvery(spanMs: number, say: (text: string) => void): (text: string) => void {
  let last = -Infinity;
  return (text) => {
    const now = performance.now();
    if (now - last < spanMs) return;
    last = now;
    say(text);
  };
}

interface Ended {
  end: ProcessEnd;
  result: AgentResult;
  errorTail: string;
}

/** If its exit code hides the reason, a program's own account takes precedence, but never over self-heal's own reason to end it. */
function agentEndOf(ended: Ended, task: AgentTask): AgentEnd {
  const { end, result, errorTail } = ended;
  const meaning = end.kind === 'exited' ? runnerOf(task.runner).exitCodes?.[end.exitCode] : undefined;
  switch (end.kind) {
    case 'timed-out':
      return { kind: 'timed-out', afterMs: task.agent.timeoutMs };
    case 'aborted':
    case 'spawn-failed':
      return end;
    case 'stopped':
      return result.error ?? { kind: 'completed' };
    case 'exited':
      if (result.error) return result.error;
      if (end.exitCode === 0) return { kind: 'completed' };
      if (meaning) return unusableBecause(meaning, errorTail, task.agent.runner);
      return agentErrorInText(errorTail, task.agent.runner) ?? end;
    case 'signalled':
      return result.error ?? end;
    default:
      return unreachable(end);
  }
}

/** What every program needs to run, to find its files, and to reach its provider, on any system. */
const basics = [
  'PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TERM COLORTERM NO_COLOR TMPDIR TMP TEMP XDG_* CI',
  'SSH_AUTH_SOCK DBUS_SESSION_BUS_ADDRESS HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY',
  'NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR NVM_* VOLTA_* FNM_* ASDF_* PLAYWRIGHT_BROWSERS_PATH IS_SANDBOX',
  'SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86)',
  'USERPROFILE USERNAME HOMEDRIVE HOMEPATH NUMBER_OF_PROCESSORS',
].flatMap((line) => line.split(' '));

/**
 * Returns the environment variables that a program is given. This is an allow-list, because an agent's tools inherit all of them, and a model
 * has no need to see the project's keys and passwords. A name that ends in `*` matches all names with that beginning. No program is told the
 * repository of a git hook that runs self-heal: its git commands would work on the user's repository instead of its copy (HN-1).
 */
export function passedEnv(
  env: NodeJS.ProcessEnv,
  passes: readonly string[] | 'everything',
): NodeJS.ProcessEnv {
  const ours = withoutRepository(env);
  if (passes === 'everything') return ours;
  const names = [...basics, ...passes].map((name) => name.toUpperCase());
  const whole = new Set(names.filter((name) => !name.endsWith('*')));
  const beginnings = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  const isPassed = (name: string) =>
    whole.has(name) || beginnings.some((beginning) => name.startsWith(beginning));
  return Object.fromEntries(Object.entries(ours).filter(([name]) => isPassed(name.toUpperCase())));
}
