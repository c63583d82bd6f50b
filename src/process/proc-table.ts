import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/** A process of this machine, as far as we may see it. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** Its process group and session, as the pids of their leaders; 0 if the system does not tell. */
  readonly group: number;
  readonly session: number;
  readonly hasTerminal: boolean;
  /** Its start time in the system's own unit, which distinguishes it from a later process with the same pid. */
  readonly startedAt: string;
  /** Waiting to be reaped: dead, although `kill(pid, 0)` succeeds. */
  readonly zombie: boolean;
  readonly command: string;
}

const run = promisify(execFile);

/** Returns every visible process: from /proc on Linux, from `ps` elsewhere. Returns none on Windows, where `taskkill /T` finds them itself. */
export async function processTable(): Promise<ProcessEntry[]> {
  if (process.platform === 'linux') return linuxTable();
  return process.platform === 'win32' ? [] : psTable();
}

/** Returns one process, or null if it has ended. */
export async function processEntry(pid: number): Promise<ProcessEntry | null> {
  return (await processEntries([pid]))[0] ?? null;
}

/** Returns those of these processes that exist. */
export async function processEntries(pids: readonly number[]): Promise<ProcessEntry[]> {
  if (process.platform === 'linux') return pids.map(linuxEntry).filter((entry) => entry !== null);
  return (await processTable()).filter(({ pid }) => pids.includes(pid));
}

/** Synchronous: reading a file of /proc takes about 10 µs, and ten times as long through the thread pool. */
function linuxTable(): ProcessEntry[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => linuxEntry(Number(pid))).filter((entry) => entry !== null);
}

/** Parses `/proc/PID/stat`: pid (comm) state ppid pgrp session tty_nr … starttime (22). comm may contain spaces and parentheses. */
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

/** For macOS and the BSDs, where `sess` is not a pid and is of no use. */
async function psTable(): Promise<ProcessEntry[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,pgid=,tty=,stat=,lstart=,comm='], {
    maxBuffer: 16 * 1024 * 1024,
  });
  return parsePs(stdout);
}

const psLine = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/;

/** Parses the output of `ps -o pid=,ppid=,pgid=,tty=,stat=,lstart=,comm=`. */
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
