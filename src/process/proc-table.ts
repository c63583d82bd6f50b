import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { tryOr } from '../result.js';

/** A visible process on this machine. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** Its process group and session, as the pids of their leaders; 0 if unknown. */
  readonly group: number;
  readonly session: number;
  readonly hasTerminal: boolean;
  /** Its start time in the system's own unit, which distinguishes it from a later process with the same pid. */
  readonly startedAt: string;
  /** Waiting to be reaped: dead, although `kill(pid, 0)` succeeds. */
  readonly isZombie: boolean;
  readonly command: string;
}

const run = promisify(execFile);

/** Returns every visible process: from /proc on Linux, from `ps` elsewhere. Returns none on Windows, where `taskkill /T` finds them itself. */
export async function readProcessTable(): Promise<ProcessEntry[]> {
  if (process.platform === 'linux') return readLinuxTable();
  return process.platform === 'win32' ? [] : readPsTable();
}

/** Returns one process, or null if it has ended. */
export async function readProcessEntry(pid: number): Promise<ProcessEntry | null> {
  return (await readProcessEntries([pid]))[0] ?? null;
}

/** Returns the existing processes among these pids. */
export async function readProcessEntries(pids: readonly number[]): Promise<ProcessEntry[]> {
  if (process.platform === 'linux') return pids.map(readLinuxEntry).filter((entry) => entry !== null);
  return (await readProcessTable()).filter(({ pid }) => pids.includes(pid));
}

/** Synchronous: reading a file of /proc takes about 10 µs, and ten times as long through the thread pool. */
function readLinuxTable(): ProcessEntry[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => readLinuxEntry(Number(pid))).filter((entry) => entry !== null);
}

/** Parses `/proc/PID/stat`: pid (comm) state ppid pgrp session tty_nr … starttime (22). comm may contain spaces and parentheses. */
function readLinuxEntry(pid: number): ProcessEntry | null {
  const stat = tryOr(null, () => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  if (stat === null) return null;
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
    isZombie: state === 'Z' || state === 'X',
    command: stat.slice(stat.indexOf('(') + 1, end),
  };
}

/** For macOS and the BSDs, where `sess` is not a pid and is of no use. */
async function readPsTable(): Promise<ProcessEntry[]> {
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
        isZombie: state.startsWith('Z'),
        command,
      },
    ];
  });
}

/** The observed descendants of a program. */
export interface Lineage extends Disposable {
  /** Observes the processes again, and returns all that were ever recorded, including the program itself; some may have ended. */
  observe(): Promise<ProcessEntry[]>;
}

const OBSERVE_EVERY_MS = 1000;

/**
 * Records a program's descendants while it runs. A recorded process is kept after its parent has ended, as are all processes in a group or session that
 * a recorded process started.
 */
export function recordLineage(root: number): Lineage {
  let recorded: ProcessEntry[] = [];
  const observe = async () => {
    const table = await readProcessTable();
    if (recorded.length === 0) recorded = table.filter((entry) => entry.pid === root);
    recorded = addRelatives(recorded, table);
    return recorded;
  };
  // Ignores a failure, because more observations follow.
  const observeQuietly = () => void observe().catch(() => undefined);
  observeQuietly();
  const timer = setInterval(observeQuietly, OBSERVE_EVERY_MS).unref();
  return { observe, [Symbol.dispose]: () => clearInterval(timer) };
}

/** Adds the relatives of processes in the table: their children, and members of groups and sessions that they started. */
export function addRelatives(
  entries: readonly ProcessEntry[],
  table: readonly ProcessEntry[],
): ProcessEntry[] {
  const relatives = [...entries];
  const entriesByPid = new Map(table.map((entry) => [entry.pid, entry]));
  // A reused pid belongs to an unrelated process.
  const isSameProcess = ({ pid, startedAt }: ProcessEntry) =>
    (entriesByPid.get(pid)?.startedAt ?? startedAt) === startedAt;
  const pids = new Set(entries.filter(isSameProcess).map(({ pid }) => pid));
  // Children may come before their parents in the table, so repeat until nothing is added.
  for (let previousCount = -1; previousCount !== relatives.length;) {
    previousCount = relatives.length;
    for (const entry of table) {
      const isRelative = [entry.parent, entry.group, entry.session].some((pid) => pids.has(pid));
      if (!isRelative || pids.has(entry.pid)) continue;
      pids.add(entry.pid);
      relatives.push(entry);
    }
  }
  return relatives;
}

/** The owner of a process: a run, one start of a program, or one start within a run. */
export interface Owner {
  readonly runId?: string;
  readonly startId?: string;
}

/** Creates the environment variables that mark a program, and all processes that inherit its environment, with an owner. */
export function createOwnerVariables({ runId, startId }: Owner): Record<string, string> {
  return {
    ...(runId === undefined ? {} : { SELF_HEAL_RUN_ID: runId }),
    ...(startId === undefined ? {} : { SELF_HEAL_START_ID: startId }),
  };
}

/** Returns the processes with the owner in their environment. */
export async function filterByOwner(owner: Owner, table: readonly ProcessEntry[]): Promise<ProcessEntry[]> {
  const variables = Object.entries(createOwnerVariables(owner)).map(([name, value]) => `${name}=${value}`);
  if (process.platform === 'win32') return [];
  if (process.platform === 'linux') {
    const isOwned = (environ: string) =>
      variables.every((variable) => `\0${environ}`.includes(`\0${variable}\0`));
    // Nothing if the process has ended or belongs to another user.
    return table.filter(({ pid }) => isOwned(tryOr('', () => readFileSync(`/proc/${pid}/environ`, 'utf8'))));
  }
  const { stdout } = await run('ps', ['-A', '-E', '-ww', '-o', 'pid=,command='], {
    maxBuffer: 64 * 1024 * 1024,
  });
  const lines = stdout
    .split('\n')
    .filter((line) => variables.every((variable) => ` ${line} `.includes(` ${variable} `)));
  const owned = new Set(lines.map((line) => Number.parseInt(line, 10)));
  return table.filter(({ pid }) => owned.has(pid));
}
