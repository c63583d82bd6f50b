import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { OutputTail, waitForExit } from '../process/child-exit.js';
import { sendSignal } from '../process/end-processes.js';
import { createOwnerVariables } from '../process/proc-table.js';

interface PlaywrightCommand {
  readonly cli: string;
  /** The subcommand, such as `test`, and its arguments. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Marks every process that the command starts, so that those that leave its process group can be found. */
  readonly runId: string;
  /** A file descriptor that Playwright inherits, so that it can detect the terminal, or a stream to forward to. */
  readonly stdout: number | Writable;
  readonly stderr: Writable;
  readonly signal: AbortSignal;
  /** How long Playwright may take after the interrupt to stop its servers and browsers, in milliseconds. */
  readonly graceMs: number;
}

export interface PlaywrightExit {
  /** Null if a signal ended it or it never started. */
  readonly exitCode: number | null;
  /** The last 64 KB of its standard error. */
  readonly stderr: string;
}

const usesProcessGroup = process.platform !== 'win32';

/**
 * Runs Playwright's command in its own process group and leaves no process of that group behind. On abort it sends SIGINT, the only signal on which
 * Playwright stops its web servers, and SIGKILL after the grace period. Never rejects.
 */
export async function runPlaywright(command: PlaywrightCommand): Promise<PlaywrightExit> {
  const { cli, args, cwd, env, runId, stdout, signal } = command;
  if (signal.aborted) return { exitCode: null, stderr: '' };
  const child = spawn(process.execPath, [cli, ...args], {
    cwd,
    env: { ...env, ...createOwnerVariables({ runId }) },
    detached: usesProcessGroup,
    stdio: ['ignore', typeof stdout === 'number' ? stdout : 'pipe', 'pipe'],
  });
  if (typeof stdout !== 'number') forwardStream(child.stdout, stdout);
  forwardStream(child.stderr, command.stderr);
  const stderr = new OutputTail();
  child.stderr?.on('data', (chunk: Buffer) => stderr.add(chunk));
  const stopListening = interruptOnAbort(child, command);
  try {
    const exit = await waitForExit(child);
    return { exitCode: exit.kind === 'exited' ? exit.exitCode : null, stderr: stderr.toString() };
  } catch (error) {
    return { exitCode: null, stderr: `${stderr.toString()}${String(error)}\n` };
  } finally {
    stopListening();
    signalGroup(child, 'SIGKILL');
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

function forwardStream(from: Readable | null, to: Writable): void {
  // If the destination closes, keeps reading the source, because unread output would block Playwright.
  const onUnpipe = (source: Readable) => {
    if (source !== from) return;
    to.off('unpipe', onUnpipe);
    source.resume();
  };
  to.on('unpipe', onUnpipe);
  from?.pipe(to, { end: false });
}

function interruptOnAbort(child: ChildProcess, { signal, graceMs }: PlaywrightCommand): () => void {
  let killTimer: NodeJS.Timeout | undefined;
  const interrupt = (): void => {
    signalGroup(child, 'SIGINT');
    killTimer = setTimeout(() => signalGroup(child, 'SIGKILL'), graceMs);
  };
  signal.addEventListener('abort', interrupt, { once: true });
  return () => {
    signal.removeEventListener('abort', interrupt);
    clearTimeout(killTimer);
  };
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  if (usesProcessGroup) sendSignal(-child.pid, signal);
  else child.kill(signal);
}
