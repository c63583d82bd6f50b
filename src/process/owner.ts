import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { ProcessEntry } from './proc-table.js';

/** Who a process belongs to: a run, one start of a program, or one start within a run. */
export interface Owner {
  readonly runId?: string;
  readonly startId?: string;
}

/** A program with its arguments and additional environment variables. */
export interface OwnedCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const run = promisify(execFile);

/**
 * Marks a command with its owner, in a way that all its descendants inherit: in the environment and, on Linux, in RLIMIT_LOCKS. The kernel has
 * ignored that limit since 2.4.25 (getrlimit(2)), passes it on to every descendant, and shows it in /proc/PID/limits. `env -i`, `setsid`
 * and a double fork lose the environment, the group and the parent, but keep the limit.
 */
export function ownedCommand(owner: Owner, file: string, args: readonly string[]): OwnedCommand {
  const env = Object.fromEntries(variablesOf(owner));
  if (process.platform !== 'linux') return { file, args, env };
  return { file: '/bin/sh', args: ['-c', setLimit, String(limitOf(owner)), file, ...args], env };
}

/** dash and busybox call the flag -w, bash -x. A shell with neither starts the program without the limit. */
const setLimit = 'ulimit -S -w "$0" 2>/dev/null || ulimit -S -x "$0" 2>/dev/null; exec "$@"';

/** Returns the processes that carry the owner. */
export async function ownedBy(owner: Owner, table: readonly ProcessEntry[]): Promise<ProcessEntry[]> {
  if (process.platform === 'linux')
    return table.filter(({ pid }) => hasVariables(pid, owner) || hasLimit(pid, owner));
  const owned = process.platform === 'win32' ? new Set() : await psOwned(owner);
  return table.filter(({ pid }) => owned.has(pid));
}

function variablesOf({ runId, startId }: Owner): [string, string][] {
  return [
    ...(runId === undefined ? [] : [['SELF_HEAL_RUN_ID', runId] as [string, string]]),
    ...(startId === undefined ? [] : [['SELF_HEAL_START_ID', startId] as [string, string]]),
  ];
}

function hasVariables(pid: number, owner: Owner): boolean {
  const environ = readProc(pid, 'environ');
  if (environ === null) return false;
  return variablesOf(owner).every(([name, value]) => `\0${environ}`.includes(`\0${name}=${value}\0`));
}

/** 28 bits for the run and 24 for the start, above 2^52, which nobody sets by hand. */
const FLOOR = 2 ** 52;
const START_BITS = 24;
const RUN_BITS = 28;

function limitOf({ runId, startId }: Owner): number {
  return FLOOR + bitsOf(runId, RUN_BITS) * 2 ** START_BITS + bitsOf(startId, START_BITS);
}

function bitsOf(text: string | undefined, bits: number): number {
  if (text === undefined) return 0;
  return createHash('sha256').update(text).digest().readUInt32BE() >>> (32 - bits);
}

function hasLimit(pid: number, { runId, startId }: Owner): boolean {
  const shown = /^Max file locks\s+(\d+)/m.exec(readProc(pid, 'limits') ?? '')?.[1];
  const limit = Number(shown ?? 0) - FLOOR;
  if (limit < 0 || limit >= FLOOR) return false;
  const isOfRun = runId === undefined || Math.floor(limit / 2 ** START_BITS) === bitsOf(runId, RUN_BITS);
  return isOfRun && (startId === undefined || limit % 2 ** START_BITS === bitsOf(startId, START_BITS));
}

/** Returns null if the process has ended or belongs to another user. */
function readProc(pid: number, name: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return null;
  }
}

async function psOwned(owner: Owner): Promise<Set<number>> {
  const { stdout } = await run('ps', ['-A', '-E', '-ww', '-o', 'pid=,command='], {
    maxBuffer: 64 * 1024 * 1024,
  });
  const words = variablesOf(owner).map(([name, value]) => ` ${name}=${value} `);
  const lines = stdout.split('\n').filter((line) => words.every((word) => ` ${line} `.includes(word)));
  return new Set(lines.map((line) => Number.parseInt(line, 10)));
}
