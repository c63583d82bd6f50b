import { readdirSync, readlinkSync } from 'node:fs';
import type { ProcessEntry } from './proc-table.js';

/**
 * Processes that nobody waits for any more and that work in a folder: their working directory, or a file that they have open, lies in it.
 * One with a terminal, or whose parent lives, may be somebody who merely looks into it. Linux only.
 */
export function orphansIn(folder: string, table: readonly ProcessEntry[]): ProcessEntry[] {
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
