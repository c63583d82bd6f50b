import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/** One process of this machine, as far as we may look at it. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** Its process group and its session, by the pid that they began with; 0 where the system does not say. */
  readonly group: number;
  readonly session: number;
  readonly hasTerminal: boolean;
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
  return (await processEntries([pid]))[0] ?? null;
}

/** So many of these processes as there are. */
export async function processEntries(pids: readonly number[]): Promise<ProcessEntry[]> {
  if (process.platform === 'linux') return pids.map(linuxEntry).filter((entry) => entry !== null);
  return (await processTable()).filter(({ pid }) => pids.includes(pid));
}

/** Read without waiting: a file of /proc takes some 10 µs so, and ten times as long by way of the thread pool. */
function linuxTable(): ProcessEntry[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => linuxEntry(Number(pid))).filter((entry) => entry !== null);
}

/** `/proc/PID/stat`: pid (comm) state ppid pgrp session tty_nr … starttime (22); comm may hold spaces and parentheses. */
function linuxEntry(pid: number): ProcessEntry | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const end = stat.lastIndexOf(')');
    const fields = stat.slice(end + 2).split(' ');
    const [state = '', parent, group, session, terminal] = fields;
    return {
      pid,
      parent: Number(parent),
      group: Number(group),
      session: Number(session),
      hasTerminal: terminal !== '0',
      startedAt: fields[19] ?? '',
      zombie: state === 'Z' || state === 'X',
      command: stat.slice(stat.indexOf('(') + 1, end),
    };
  } catch {
    return null;
  }
}

/** macOS and the BSDs, where `sess` is no pid and says nothing. */
async function psTable(): Promise<ProcessEntry[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,pgid=,tty=,stat=,lstart=,comm='], {
    maxBuffer: 16 * 1024 * 1024,
  });
  return parsePs(stdout);
}

const psLine = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/;

/** The lines of `ps -o pid=,ppid=,pgid=,tty=,stat=,lstart=,comm=`. */
export function parsePs(stdout: string): ProcessEntry[] {
  return stdout.split('\n').flatMap((line) => {
    const match = psLine.exec(line);
    if (!match) return [];
    const [, pid = '', parent = '', group = '', terminal = '', state = '', startedAt = '', command = ''] =
      match;
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        session: 0,
        hasTerminal: !/^\?+$|^-$/.test(terminal),
        startedAt,
        zombie: state.startsWith('Z'),
        command,
      },
    ];
  });
}
