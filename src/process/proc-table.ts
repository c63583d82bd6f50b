import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** One process of this machine, as far as we may look at it. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** Tells a process from a later one with the same pid: its start time, in the system's own unit. */
  readonly startedAt: string;
  /** Waiting to be reaped: dead, however alive `kill(pid, 0)` says it is. */
  readonly zombie: boolean;
  readonly command: string;
}

const run = promisify(execFile);

/** Every process that we can see. On Linux read from /proc; elsewhere from `ps`; on Windows nothing (`taskkill /T` looks itself). */
export async function processTable(): Promise<ProcessEntry[]> {
  if (process.platform === 'linux') return linuxTable();
  return process.platform === 'win32' ? [] : psTable();
}

/** One process, or null where it is gone. */
export async function processEntry(pid: number): Promise<ProcessEntry | null> {
  if (process.platform === 'linux') return linuxEntry(pid);
  return (await processTable()).find((one) => one.pid === pid) ?? null;
}

async function linuxTable(): Promise<ProcessEntry[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const entries = await Promise.all(pids.map(linuxEntry));
  return entries.filter((entry) => entry !== null);
}

/** `/proc/PID/stat`: pid (comm) state ppid … with the start time as field 22; comm may hold spaces and parentheses. */
async function linuxEntry(pid: number): Promise<ProcessEntry | null> {
  try {
    const stat = await readFile(path.join('/proc', String(pid), 'stat'), 'utf8');
    const open = stat.indexOf('(');
    const close = stat.lastIndexOf(')');
    const fields = stat.slice(close + 2).split(' ');
    const [state = '', parent = '0'] = fields;
    const dead = state === 'Z' || state === 'X';
    return {
      pid,
      parent: Number(parent),
      startedAt: fields[19] ?? '',
      zombie: dead,
      command: stat.slice(open + 1, close),
    };
  } catch {
    return null;
  }
}

async function psTable(): Promise<ProcessEntry[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,stat=,lstart=,comm='], {
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/.exec(line);
    if (!match) return [];
    const [, pid = '', parent = '', state = '', startedAt = '', command = ''] = match;
    return [{ pid: Number(pid), parent: Number(parent), startedAt, zombie: state.startsWith('Z'), command }];
  });
}
