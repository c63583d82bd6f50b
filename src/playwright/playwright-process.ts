import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { ownedCommand } from '../process/owner.js';

/** One start of Playwright's command line. */
export interface PlaywrightCommand {
  readonly cli: string;
  /** `test`, say, and what follows it. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** By which whatever it starts is found when it has left its group. */
  readonly runId: string;
  /** A file descriptor of ours that Playwright writes to itself, so that it sees the terminal; or a stream. */
  readonly stdout: number | Writable;
  readonly stderr: Writable;
  readonly signal: AbortSignal;
  /** How long after the interrupt Playwright may take to end its servers and browsers, in milliseconds. */
  readonly graceMs: number;
}

/** How the command ended. */
export interface PlaywrightExit {
  /** Null where a signal ended it, or it never started. */
  readonly exitCode: number | null;
  /** The last part of its standard error. */
  readonly stderr: string;
}

const tailBytes = 64 * 1024;
/** A server that outlives Playwright may hold the streams open: `close` may never come. */
const drainMs = 500;
const ownGroup = process.platform !== 'win32';

/**
 * Runs Playwright's command in a process group of its own, and leaves nothing of that group behind. An abort is handed
 * on as SIGINT, which is the one signal that makes Playwright end its web servers as well, and after the grace as
 * SIGKILL. Never rejects.
 */
export async function runPlaywright(command: PlaywrightCommand): Promise<PlaywrightExit> {
  const { cli, args, cwd, env, runId, stdout, signal } = command;
  if (signal.aborted) return { exitCode: null, stderr: '' };
  const owned = ownedCommand({ runId }, process.execPath, [cli, ...args]);
  const child = spawn(owned.file, owned.args, {
    cwd,
    env: { ...env, ...owned.env },
    detached: ownGroup,
    stdio: ['ignore', typeof stdout === 'number' ? stdout : 'pipe', 'pipe'],
  });
  if (typeof stdout !== 'number') forward(child.stdout, stdout);
  forward(child.stderr, command.stderr);
  const stderr = tailOf(child.stderr);
  const stopListening = interruptOnAbort(child, command);
  try {
    const exitCode = await exitOf(child);
    return { exitCode, stderr: stderr() };
  } catch (error) {
    return { exitCode: null, stderr: `${stderr()}${String(error)}\n` };
  } finally {
    stopListening();
    signalGroup(child, 'SIGKILL');
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

function forward(from: Readable | null, to: Writable): void {
  // A reader of ours that has gone takes no more; what is not read then would block Playwright.
  const onUnpipe = (source: Readable) => {
    if (source !== from) return;
    to.off('unpipe', onUnpipe);
    source.resume();
  };
  to.on('unpipe', onUnpipe);
  from?.pipe(to, { end: false });
}

function tailOf(stream: Readable | null): () => string {
  let kept = Buffer.alloc(0);
  stream?.on('data', (chunk: Buffer) => {
    kept = Buffer.concat([kept, chunk]).subarray(-tailBytes);
  });
  return () => kept.toString('utf8');
}

/** Rejects where the program could not be started. */
async function exitOf(child: ChildProcess): Promise<number | null> {
  const closed = once(child, 'close').catch(() => undefined);
  const [exitCode] = (await once(child, 'exit')) as [number | null];
  await Promise.race([closed, delay(drainMs, undefined, { ref: false })]);
  return exitCode;
}

function interruptOnAbort(child: ChildProcess, { signal, graceMs }: PlaywrightCommand): () => void {
  let kill: NodeJS.Timeout | undefined;
  const interrupt = (): void => {
    signalGroup(child, 'SIGINT');
    kill = setTimeout(() => signalGroup(child, 'SIGKILL'), graceMs);
  };
  signal.addEventListener('abort', interrupt, { once: true });
  return () => {
    signal.removeEventListener('abort', interrupt);
    clearTimeout(kill);
  };
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  if (!ownGroup) return void child.kill(signal);
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    // ESRCH is the good ending: nothing is left of the group.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
