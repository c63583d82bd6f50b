import { setTimeout as delay } from 'node:timers/promises';
import { readdirSync, readlinkSync } from 'node:fs';
import { withRelatives } from './lineage.js';
import { ownedBy, type Owner } from './owner.js';
import { processEntries, type ProcessEntry, processTable } from './proc-table.js';

const POLL_MS = 25;
/** After KILL, how long a process may take to vanish: one that waits for a disk does not hear it at once. */
const KILL_MS = 5000;
/** What starts more processes while it is ended is ended again, so often. */
const ROUNDS = 5;

/** Sends a signal to a process, or with a negative pid to its group; one that is gone, or another user's, gets none. */
function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

/** Ends processes: TERM, grace, KILL, and again for what they start meanwhile. `look` gives those that are known by now. */
export async function endProcesses(
  look: () => Promise<readonly ProcessEntry[]>,
  graceMs: number,
): Promise<void> {
  await waitForEnd(signalAll(await running(await look()), 'SIGTERM'), graceMs);
  await waitForEnd(signalAll(await running(await look()), 'SIGKILL'), KILL_MS);
}

/** Groups as a whole, so that what forks meanwhile hears it, too; and whoever is in a group of somebody else. */
function signalAll(entries: readonly ProcessEntry[], signal: NodeJS.Signals): readonly ProcessEntry[] {
  const groups = new Set(entries.filter(({ pid, group }) => pid === group).map(({ pid }) => pid));
  for (const group of groups) sendSignal(-group, signal);
  for (const { pid, group } of entries) if (!groups.has(group)) sendSignal(pid, signal);
  return entries;
}

/** What is looked for beside the owner that processes carry. */
export interface SweepOptions {
  /** The folder that an agent worked in, which nobody else has a business in; its processes without a parent are ended, too. */
  readonly workDir?: string | undefined;
  /** Processes that are known to be of the owner. */
  readonly known?: readonly ProcessEntry[];
  /** Between TERM and KILL, in milliseconds; default 1,000. */
  readonly graceMs?: number;
}

/**
 * Ends everything that an owner left, however it hid: what carries the owner (see `ownedCommand`), what was seen to descend from it, what
 * works in its folder, and the relatives of all these; never this process or one above it. Gives `pid command` of each.
 */
export async function sweep(owner: Owner, options: SweepOptions = {}): Promise<string[]> {
  const ended = new Map<string, string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = await orphansOf(owner, options);
    if (found.length === 0) break;
    for (const one of found) ended.set(keyOf(one), `${one.pid} ${one.command}`);
    await endProcesses(() => orphansOf(owner, { ...options, known: found }), options.graceMs ?? 1000);
  }
  return [...ended.values()];
}

/** The living processes that an owner left. */
export async function orphansOf(
  owner: Owner,
  { workDir, known = [] }: SweepOptions = {},
): Promise<ProcessEntry[]> {
  const table = (await processTable()).filter((entry) => !entry.zombie);
  const spared = ancestorsOfOurs(table);
  const others = table.filter(({ pid }) => !spared.has(pid));
  const inFolder = workDir === undefined ? [] : orphansIn(workDir, others);
  const found = [...known, ...(await ownedBy(owner, others)), ...inFolder];
  const all = new Set(withRelatives(found, others).map(keyOf));
  return others.filter((one) => all.has(keyOf(one)));
}

function ancestorsOfOurs(table: readonly ProcessEntry[]): Set<number> {
  const parents = new Map(table.map((entry) => [entry.pid, entry.parent]));
  const ours = new Set<number>();
  for (let pid: number | undefined = process.pid; pid && !ours.has(pid); pid = parents.get(pid))
    ours.add(pid);
  return ours;
}

/** Waits until none of the processes runs, at most `ms`. */
async function waitForEnd(entries: readonly ProcessEntry[], ms: number): Promise<void> {
  const until = performance.now() + ms;
  for (let left = await running(entries); left.length > 0 && performance.now() < until;) {
    await delay(POLL_MS);
    left = await running(left);
  }
}

/** Those that are this very process, not a later one with its pid, and still run; a zombie does not. */
async function running(entries: readonly ProcessEntry[]): Promise<ProcessEntry[]> {
  const now = await processEntries(entries.map(({ pid }) => pid));
  const alive = new Set(now.filter((one) => !one.zombie).map(keyOf));
  return entries.filter((one) => alive.has(keyOf(one)));
}

/** A pid alone may be another process's by now. */
function keyOf({ pid, startedAt }: ProcessEntry): string {
  return `${pid} ${startedAt}`;
}

/**
 * Processes that nobody waits for any more and that work in a folder: their working directory, or a file that they have open, lies in it.
 * One with a terminal, or whose parent lives, may be somebody who merely looks into it. Linux only.
 */
function orphansIn(folder: string, table: readonly ProcessEntry[]): ProcessEntry[] {
  if (process.platform !== 'linux') return [];
  const managers = new Set(table.filter(({ command }) => command === 'systemd').map(({ pid }) => pid));
  const isOrphan = ({ parent }: ProcessEntry) => parent === 1 || managers.has(parent);
  const candidates = table.filter((entry) => !entry.hasTerminal && isOrphan(entry));
  return candidates.filter(({ pid }) => placesOf(pid).some((place) => isIn(place, folder)));
}

function placesOf(pid: number): string[] {
  const files = orNothing(() => readdirSync(`/proc/${pid}/fd`));
  const links = [`/proc/${pid}/cwd`, ...files.map((fd) => `/proc/${pid}/fd/${fd}`)];
  return links.flatMap((link) => orNothing(() => [readlinkSync(link)]));
}

/** What is gone by now, or another user's, tells nothing. */
function orNothing(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return [];
  }
}

/** The kernel adds ` (deleted)` to the path of what is no more. */
function isIn(place: string, folder: string): boolean {
  return place === folder || place === `${folder} (deleted)` || place.startsWith(`${folder}/`);
}
