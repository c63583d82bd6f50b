import { setTimeout as delay } from 'node:timers/promises';
import { readdirSync, readlinkSync } from 'node:fs';
import {
  addRelatives,
  filterByOwner,
  type Owner,
  readProcessEntries,
  type ProcessEntry,
  readProcessTable,
} from './proc-table.js';
import { tryOr } from '../result.js';

const POLL_MS = 25;
/** How long to wait for a process to end after KILL: one that waits for a disk does not end immediately. */
const KILL_MS = 5000;
/** How many rounds to try, because processes may start others while self-heal ends them. */
const MAX_ROUNDS = 5;

/** Sends a signal to a process, or to a group if the pid is negative. Ignores processes that have ended or belong to another user. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

/** Ends processes with TERM and, after the grace period, KILL, including processes started in between. `findProcesses` returns those that exist now. */
export async function endProcesses(
  findProcesses: () => Promise<readonly ProcessEntry[]>,
  graceMs: number,
): Promise<void> {
  await waitForEnd(signalAll(await filterRunning(await findProcesses()), 'SIGTERM'), graceMs);
  await waitForEnd(signalAll(await filterRunning(await findProcesses()), 'SIGKILL'), KILL_MS);
}

/** Signals whole groups, which also reaches newly forked processes, and individual processes in other groups. */
function signalAll(entries: readonly ProcessEntry[], signal: NodeJS.Signals): readonly ProcessEntry[] {
  const groups = new Set(entries.filter(({ pid, group }) => pid === group).map(({ pid }) => pid));
  for (const group of groups) sendSignal(-group, signal);
  for (const { pid, group } of entries) if (!groups.has(group)) sendSignal(pid, signal);
  return entries;
}

/** Ways to find processes other than by the owner in their environment. */
interface SweepOptions {
  /** The folder that only this agent works in. Its orphaned processes are ended too. */
  readonly workDir?: string | undefined;
  /** Processes that were recorded as the owner's while they ran. */
  readonly recorded?: readonly ProcessEntry[];
  /** The time between TERM and KILL, in milliseconds; default 1,000. */
  readonly graceMs?: number;
}

/**
 * Ends all processes of an owner: those with the owner in their environment (see `createOwnerVariables`), recorded descendants, those that work in its
 * folder, and the relatives of all these; never this process or its ancestors. Returns a `pid command` for each.
 */
export async function endOwnedProcesses(owner: Owner, options: SweepOptions = {}): Promise<string[]> {
  const { graceMs = 1000 } = options;
  const ended = new Map<string, string>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const orphans = await findOwnedProcesses(owner, options);
    if (orphans.length === 0) break;
    for (const entry of orphans) ended.set(createKey(entry), `${entry.pid} ${entry.command}`);
    await endProcesses(() => findOwnedProcesses(owner, { ...options, recorded: orphans }), graceMs);
  }
  return [...ended.values()];
}

/** Returns the living processes that belong to an owner. */
export async function findOwnedProcesses(
  owner: Owner,
  { workDir, recorded = [] }: SweepOptions = {},
): Promise<ProcessEntry[]> {
  const table = (await readProcessTable()).filter((entry) => !entry.isZombie);
  const ownAncestors = findOwnAncestors(table);
  const candidates = table.filter(({ pid }) => !ownAncestors.has(pid));
  const orphansInFolder = workDir === undefined ? [] : findOrphansInFolder(workDir, candidates);
  const roots = [...recorded, ...(await filterByOwner(owner, candidates)), ...orphansInFolder];
  const keys = new Set(addRelatives(roots, candidates).map(createKey));
  return candidates.filter((entry) => keys.has(createKey(entry)));
}

function findOwnAncestors(table: readonly ProcessEntry[]): Set<number> {
  const parents = new Map(table.map((entry) => [entry.pid, entry.parent]));
  const ancestors = new Set<number>();
  for (let pid: number | undefined = process.pid; pid && !ancestors.has(pid); pid = parents.get(pid))
    ancestors.add(pid);
  return ancestors;
}

/** Waits until all processes have ended, for at most `ms`. */
async function waitForEnd(entries: readonly ProcessEntry[], ms: number): Promise<void> {
  const deadline = performance.now() + ms;
  for (let alive = await filterRunning(entries); alive.length > 0 && performance.now() < deadline;) {
    await delay(POLL_MS);
    alive = await filterRunning(alive);
  }
}

/** Returns the processes that are still running, without zombies and without later processes that reuse a pid. */
async function filterRunning(entries: readonly ProcessEntry[]): Promise<ProcessEntry[]> {
  const entriesNow = await readProcessEntries(entries.map(({ pid }) => pid));
  const aliveKeys = new Set(entriesNow.filter((entry) => !entry.isZombie).map(createKey));
  return entries.filter((entry) => aliveKeys.has(createKey(entry)));
}

/** Identifies a process by more than its pid, which another process may reuse. */
function createKey({ pid, startedAt }: ProcessEntry): string {
  return `${pid} ${startedAt}`;
}

/**
 * Returns orphaned processes that work in a folder: their working directory or an open file is in it. Skips processes with a terminal or a living
 * parent, which may belong to a person who just views the folder. Linux only.
 */
function findOrphansInFolder(folder: string, table: readonly ProcessEntry[]): ProcessEntry[] {
  if (process.platform !== 'linux') return [];
  const managers = new Set(table.filter(({ command }) => command === 'systemd').map(({ pid }) => pid));
  const isOrphan = ({ parent }: ProcessEntry) => parent === 1 || managers.has(parent);
  const candidates = table.filter((entry) => !entry.hasTerminal && isOrphan(entry));
  return candidates.filter(({ pid }) => listOpenPaths(pid).some((file) => isPathInFolder(file, folder)));
}

function listOpenPaths(pid: number): string[] {
  // The process may have ended, or belong to another user.
  const files = tryOr([], () => readdirSync(`/proc/${pid}/fd`));
  const links = [`/proc/${pid}/cwd`, ...files.map((fd) => `/proc/${pid}/fd/${fd}`)];
  return links.flatMap((link) => tryOr([], () => [readlinkSync(link)]));
}

/** The kernel appends ` (deleted)` to the path of a deleted file. */
function isPathInFolder(file: string, folder: string): boolean {
  return file === folder || file === `${folder} (deleted)` || file.startsWith(`${folder}/`);
}
