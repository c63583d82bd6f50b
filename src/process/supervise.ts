import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { execa } from 'execa';
import { descendantsOf } from './descendants.js';
import { sendSignal, sweep, waitForEnd } from './end-processes.js';
import type { Marker } from './marked.js';
import { processEntry, processTable, type ProcessEntry } from './proc-table.js';

/** A program to run and to end, whatever it does. */
export interface Command {
  readonly file: string;
  /** Never given to a shell. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Written to standard input, which is then closed. */
  readonly input: string;
  /** Put into its environment, by which whatever it starts is found again. */
  readonly marker: Marker;
  readonly timeoutMs: number;
  /** Between TERM and KILL, in milliseconds. */
  readonly graceMs: number;
  /** Aborting ends it. */
  readonly signal: AbortSignal;
  readonly onStart: (pid: number) => void;
  readonly onOutput: (chunk: Buffer, from: 'stdout' | 'stderr') => void;
}

/** How a program ended; the first reason to end it wins. */
export type Ending =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'aborted' }
  /** Ended by us because its work was done. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'spawn-failed'; readonly reason: string };

/** A program that is running. */
export interface Supervised {
  /** Ends it because its work is done. */
  stop(): void;
  /** Resolves when it, and all that it started, is gone. */
  readonly ended: Promise<{ readonly ending: Ending; readonly leftovers: readonly string[] }>;
}

type Reason = 'timed-out' | 'aborted' | 'stopped';

/** After the exit, how long output that is still in the pipe is waited for: a grandchild may hold it open for ever. */
const DRAIN_MS = 1000;
const ownGroup = process.platform !== 'win32';

/**
 * Runs a program in a process group of its own. To end it, its descendants are recorded first, since tools of coding agents
 * live in sessions of their own which a signal to the group does not reach; then TERM, the grace, KILL; at last a sweep
 * by the marker in the environment finds what has no parent any more. Never rejects.
 */
export function supervise(command: Command): Supervised {
  const child = start(command);
  let reason: Reason | null = null;
  let ending: Promise<void> = Promise.resolve();
  const terminate = (why: Reason) => {
    if (reason !== null) return;
    reason = why;
    ending = endTree(child.pid, command.graceMs);
  };
  const ended = async () => {
    if (command.signal.aborted) terminate('aborted');
    const disarm = arm(command, terminate);
    const exit = await exitOf(child, command);
    disarm();
    await ending;
    child.stdout?.destroy();
    child.stderr?.destroy();
    const leftovers = await sweep(command.marker, command.graceMs);
    return { ending: reason === null || exit.kind === 'spawn-failed' ? exit : { kind: reason }, leftovers };
  };
  return { stop: () => terminate('stopped'), ended: ended() };
}

type Child = ReturnType<typeof start>;

function start({ file, args, cwd, env, marker, onOutput, onStart, input }: Command) {
  // Execa finds scripts and .cmd shims on Windows and programs of the project; ending them is our own, see above.
  const child = execa(file, args, {
    cwd,
    env: { ...env, [marker.name]: marker.value },
    extendEnv: false,
    preferLocal: true,
    localDir: cwd,
    detached: ownGroup,
    cleanup: false,
    buffer: false,
    reject: false,
    stdio: 'pipe',
    windowsHide: true,
  });
  for (const from of ['stdout', 'stderr'] as const) {
    (child[from] as Readable | null)?.on('data', (chunk: Buffer) => onOutput(chunk, from));
  }
  // An agent need not read what it is told.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
  if (child.pid !== undefined) onStart(child.pid);
  return child;
}

function arm({ timeoutMs, signal }: Command, terminate: (why: Reason) => void): () => void {
  const timer = setTimeout(() => terminate('timed-out'), timeoutMs);
  const onAbort = () => terminate('aborted');
  signal.addEventListener('abort', onAbort, { once: true });
  return () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  };
}

async function exitOf(child: Child, { file }: Command): Promise<Ending> {
  if (child.pid === undefined) {
    const { originalMessage, code } = await child;
    return { kind: 'spawn-failed', reason: originalMessage ?? `${file}: ${code ?? 'it did not start'}` };
  }
  const closed = once(child, 'close').catch(() => undefined);
  const [exitCode, signal] = (await once(child, 'exit')) as [number | null, string | null];
  await Promise.race([closed, delay(DRAIN_MS)]);
  return exitCode === null
    ? { kind: 'signalled', signal: signal ?? 'unknown signal' }
    : { kind: 'exited', exitCode };
}

async function endTree(pid: number | undefined, graceMs: number): Promise<void> {
  if (pid === undefined) return;
  if (!ownGroup) return void (await execa('taskkill', ['/PID', String(pid), '/T', '/F'], { reject: false }));
  const recorded = await signalTree(pid, [], 'SIGTERM');
  const stubborn = await waitForEnd(recorded, graceMs);
  const killed = await signalTree(pid, stubborn, 'SIGKILL');
  await waitForEnd(killed, 5000);
}

/** Signals the group and every recorded process outside it; gives all of them. */
async function signalTree(
  pid: number,
  before: readonly ProcessEntry[],
  signal: NodeJS.Signals,
): Promise<ProcessEntry[]> {
  const root = await processEntry(pid);
  const below = descendantsOf(pid, await processTable());
  const all = [
    ...new Map([...(root ? [root] : []), ...before, ...below].map((one) => [one.pid, one])).values(),
  ];
  sendSignal(-pid, signal);
  for (const entry of all) sendSignal(entry.pid, signal);
  return all;
}
