import { setTimeout as delay } from 'node:timers/promises';
import { markedProcesses, type Marker } from './marked.js';
import { processEntry, type ProcessEntry } from './proc-table.js';

const POLL_MS = 25;

/** Sends a signal to a process, or with a negative pid to its group; false where there is nobody left to get it. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH') return false;
    // A process of another user: not ours to end.
    if (code === 'EPERM') return false;
    throw error;
  }
}

/** Whether this very process, not a later one with its pid, is still running; a zombie is not. */
async function isRunning(entry: ProcessEntry): Promise<boolean> {
  const now = await processEntry(entry.pid);
  return now !== null && !now.zombie && now.startedAt === entry.startedAt;
}

/** Waits until none of the processes runs, at most `ms`; gives those that still do. */
export async function waitForEnd(entries: readonly ProcessEntry[], ms: number): Promise<ProcessEntry[]> {
  let left = await running(entries);
  for (let waited = 0; left.length > 0 && waited < ms; waited += POLL_MS) {
    await delay(POLL_MS);
    left = await running(left);
  }
  return left;
}

async function running(entries: readonly ProcessEntry[]): Promise<ProcessEntry[]> {
  const states = await Promise.all(entries.map(isRunning));
  return entries.filter((_, index) => states[index]);
}

/** Ends the given processes: TERM, grace, KILL; returns when they are gone. */
async function endProcesses(entries: readonly ProcessEntry[], graceMs: number): Promise<void> {
  for (const entry of await running(entries)) sendSignal(entry.pid, 'SIGTERM');
  const stubborn = await waitForEnd(entries, graceMs);
  for (const entry of stubborn) sendSignal(entry.pid, 'SIGKILL');
  await waitForEnd(stubborn, 5000);
}

/**
 * Ends everything that carries the marker, also what left its process group and its session, and what those start
 * meanwhile; gives `pid command` of each.
 */
export async function sweep(marker: Marker, graceMs = 1000): Promise<string[]> {
  const ended: string[] = [];
  for (let round = 0; round < 5; round += 1) {
    const found = await markedProcesses(marker);
    if (found.length === 0) break;
    ended.push(...found.map(({ pid, command }) => `${pid} ${command}`));
    await endProcesses(found, graceMs);
  }
  return ended;
}
