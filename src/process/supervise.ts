import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { execa } from 'execa';
import { type Result, err, ok } from '../result.js';
import { type ChildExit, OutputTail, waitForExit } from './child-exit.js';
import { endProcesses, endOwnedProcesses } from './end-processes.js';
import { findProgram } from './find-program.js';
import { type Lineage, type Owner, recordLineage, createOwnerVariables } from './proc-table.js';

/** A program to run under supervision. */
export interface ProgramCommand {
  readonly file: string;
  /** Never passed to a shell. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Written to standard input, which is then closed; a stream stays open until it ends. */
  readonly input: string | Readable;
  /** The run that the program belongs to. Its processes carry this id, so they can be found even after self-heal was killed. */
  readonly runId?: string;
  /** A folder in which only this program works: see `SweepOptions`. */
  readonly workDir?: string | undefined;
  readonly timeoutMs: number;
  /** The time between TERM and KILL, in milliseconds. */
  readonly graceMs: number;
  /** Aborting ends the program. */
  readonly signal: AbortSignal;
  readonly onStart: (pid: number) => void;
  readonly onOutput: (chunk: Buffer, from: 'stdout' | 'stderr') => void;
  /** Asks the program to end by itself, within `graceMs`, before any signal. */
  readonly requestExit?: () => Promise<void>;
}

/** Why self-heal ends a program; the first reason wins. `stopped`: its work was done. */
type Reason = 'timed-out' | 'aborted' | 'stopped';

export type ProcessEnd =
  | ChildExit
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'spawn-failed'; readonly reason: string };

/** How a program ended, and `pid command` of each leftover process, which was ended, too. */
export interface ProgramEnd {
  readonly end: ProcessEnd;
  readonly orphans: readonly string[];
}

export interface SupervisedProgram {
  /** Ends the program because its work is done. */
  stop(): void;
  /** Aborted when self-heal begins to stop the program; later output is a reaction to that. */
  readonly stopping: AbortSignal;
  /** Resolves when the program and all its processes have ended. */
  readonly ended: Promise<ProgramEnd>;
}

/**
 * Runs a program in its own process group, and ends all of its processes. Never rejects. Each state is a step of `superviseUntilEnd`:
 *
 *     starting ──► running ──exit──────────────────────────► exited ──► sweeping ──► gone
 *        │            └─stop, timeout, abort─► stopping ─exit─┘
 *        └─ it cannot be started, or is no longer needed ──────────────────────────► gone
 */
export function supervise(command: ProgramCommand): SupervisedProgram {
  const ending = new AbortController();
  const requestEnd = (why: Reason) => ending.abort(why);
  return {
    stop: () => requestEnd('stopped'),
    stopping: ending.signal,
    ended: superviseUntilEnd(command, ending.signal, requestEnd),
  };
}

async function superviseUntilEnd(
  command: ProgramCommand,
  ending: AbortSignal,
  requestEnd: (why: Reason) => void,
): Promise<ProgramEnd> {
  // Starting.
  const { signal, timeoutMs, graceMs, runId, workDir } = command;
  if (signal.aborted) requestEnd('aborted');
  const owner = { startId: randomUUID(), ...(runId === undefined ? {} : { runId }) };
  const started = await startProgram(command, owner, ending);
  if (!started.ok) return { end: started.error, orphans: [] };
  const { child, pid } = started.value;
  // Running.
  const onAbort = () => requestEnd('aborted');
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => requestEnd('timed-out'), timeoutMs);
  using lineage = recordLineage(pid);
  const exit = waitForExit(child);
  const outcome = await Promise.race([exit, waitForAbort(ending)]);
  clearTimeout(timer);
  signal.removeEventListener('abort', onAbort);
  // Stopping.
  if (outcome === 'asked-to-end') {
    if (command.requestExit) await Promise.race([exit, command.requestExit(), delay(graceMs)]);
    await endProcessTree(pid, lineage, graceMs);
  }
  await exit;
  child.stdout?.destroy();
  child.stderr?.destroy();
  // Sweeping.
  const orphans = await endOwnedProcesses(owner, { workDir, graceMs, recorded: await lineage.observe() });
  const end = outcome === 'asked-to-end' ? { kind: ending.reason as Reason } : outcome;
  return { end, orphans };
}

type Child = ReturnType<typeof spawn>;

/** Wrapped in an object because execa's child is a promise, which `await` would unwrap. */
type Started = Result<{ readonly child: Child; readonly pid: number }, ProcessEnd>;

async function startProgram(command: ProgramCommand, owner: Owner, ending: AbortSignal): Promise<Started> {
  const { file, cwd, env, onOutput, onStart, input } = command;
  const program = await findProgram(file, { cwd, env });
  if (ending.aborted) return err({ kind: ending.reason as Reason });
  if (program === null) return err({ kind: 'spawn-failed', reason: `${file}: program not found` });
  const child = spawn(command, program, owner);
  if (child.pid === undefined) {
    const { originalMessage, code } = await child;
    const reason = originalMessage ?? `${file}: ${code ?? 'it did not start'}`;
    return err({ kind: 'spawn-failed', reason });
  }
  for (const from of ['stdout', 'stderr'] as const) {
    (child[from] as Readable | null)?.on('data', (chunk: Buffer) => onOutput(chunk, from));
  }
  // The program may exit without reading its input.
  child.stdin?.on('error', () => undefined);
  if (typeof input === 'string') child.stdin?.end(input);
  else if (child.stdin) input.pipe(child.stdin);
  onStart(child.pid);
  return ok({ child, pid: child.pid });
}

function spawn({ args, cwd, env }: ProgramCommand, program: string, owner: Owner) {
  // Execa finds scripts, .cmd shims on Windows and the project's programs. Stopping processes is our own code.
  return execa(program, args, {
    cwd,
    env: { ...env, ...createOwnerVariables(owner) },
    extendEnv: false,
    preferLocal: true,
    localDir: cwd,
    detached: process.platform !== 'win32',
    cleanup: false,
    buffer: false,
    reject: false,
    stdio: 'pipe',
    windowsHide: true,
  });
}

async function waitForAbort(signal: AbortSignal): Promise<'asked-to-end'> {
  if (!signal.aborted) await once(signal, 'abort');
  return 'asked-to-end';
}

/** Tools of coding agents run in their own sessions, which a signal to the group does not reach. The lineage has recorded them. */
async function endProcessTree(pid: number, lineage: Lineage, graceMs: number): Promise<void> {
  if (process.platform === 'win32')
    await execa('taskkill', ['/PID', String(pid), '/T', '/F'], { reject: false });
  else await endProcesses(() => lineage.observe(), graceMs);
}

const PROJECT_COMMAND_TIMEOUT_MS = 15 * 60_000;

/** A command of the project that runs to its end. */
export type ProjectCommand = Required<
  Pick<ProgramCommand, 'file' | 'args' | 'cwd' | 'env' | 'runId' | 'signal'>
>;

/**
 * Runs one of the project's commands, and ends all of its processes. Returns null if it succeeded, else the end of its output and how it ended. Stops
 * it after 15 minutes.
 */
export async function runProgram(command: ProjectCommand): Promise<{ output: string; how: string } | null> {
  const output = new OutputTail();
  const { ended } = supervise({
    ...command,
    input: '',
    timeoutMs: PROJECT_COMMAND_TIMEOUT_MS,
    graceMs: 5000,
    onStart: () => undefined,
    onOutput: (chunk) => output.add(chunk),
  });
  const { end } = await ended;
  if (end.kind === 'exited' && end.exitCode === 0) return null;
  const how = end.kind === 'exited' ? `exit code ${end.exitCode}` : end.kind;
  return { output: output.toString(), how };
}
