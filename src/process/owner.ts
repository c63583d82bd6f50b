import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { ProcessEntry } from './proc-table.js';

/** Whose a process is: of a run, of one start of a program, or of one within the other. */
export interface Owner {
  readonly runId?: string;
  readonly startId?: string;
}

/** A program with its arguments and the variables that are added to its environment. */
export interface OwnedCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const run = promisify(execFile);

/**
 * The command with its owner written on it, so that all that it starts carries the owner as well: in the environment, and on Linux
 * in RLIMIT_LOCKS. The kernel has ignored that limit since 2.4.25 (getrlimit(2)), hands it on to every descendant, and shows it in
 * /proc/PID/limits; `env -i`, `setsid` and a second fork, which lose the environment, the group and the parent, keep it.
 */
export function ownedCommand(owner: Owner, file: string, args: readonly string[]): OwnedCommand {
  const env = Object.fromEntries(variablesOf(owner));
  if (process.platform !== 'linux') return { file, args, env };
  return { file: '/bin/sh', args: ['-c', setLimit, String(limitOf(owner)), file, ...args], env };
}

/** dash and busybox call it -w, bash -x; a shell that has neither starts the program without it. */
const setLimit = 'ulimit -S -w "$0" 2>/dev/null || ulimit -S -x "$0" 2>/dev/null; exec "$@"';

/** Those of the processes that carry the owner. */
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

/** 28 bits of the run and 24 of the start, above 2^52, where nobody sets a limit by hand. */
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

/** Null where it is gone, or another user's. */
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
