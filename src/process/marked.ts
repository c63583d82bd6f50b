import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { processTable, type ProcessEntry } from './proc-table.js';

/** A variable in the environment of everything that somebody started, by which it is found when it has left its group. */
export interface Marker {
  readonly name: string;
  readonly value: string;
}

const run = promisify(execFile);

/** The living processes whose environment holds the marker; never this process or one above it. */
export async function markedProcesses(marker: Marker): Promise<ProcessEntry[]> {
  const table = await processTable();
  const ours = ancestorsOfOurs(table);
  const alive = table.filter((entry) => !entry.zombie && !ours.has(entry.pid));
  const marked = process.platform === 'linux' ? await linuxMarked(alive, marker) : await psMarked(marker);
  return alive.filter((entry) => marked.has(entry.pid));
}

function ancestorsOfOurs(table: readonly ProcessEntry[]): Set<number> {
  const parents = new Map(table.map((entry) => [entry.pid, entry.parent]));
  const ours = new Set<number>();
  for (let pid: number | undefined = process.pid; pid && !ours.has(pid); pid = parents.get(pid))
    ours.add(pid);
  return ours;
}

async function linuxMarked(table: readonly ProcessEntry[], marker: Marker): Promise<Set<number>> {
  const wanted = Buffer.from(`\0${marker.name}=${marker.value}\0`);
  const marked = new Set<number>();
  await Promise.all(
    table.map(async ({ pid }) => {
      // Another user's environment cannot be read, and is none of ours.
      const environ = await readFile(path.join('/proc', String(pid), 'environ')).catch(() => null);
      if (environ && Buffer.concat([Buffer.from([0]), environ, Buffer.from([0])]).includes(wanted))
        marked.add(pid);
    }),
  );
  return marked;
}

async function psMarked(marker: Marker): Promise<Set<number>> {
  if (process.platform === 'win32') return new Set();
  const { stdout } = await run('ps', ['-A', '-E', '-ww', '-o', 'pid=,command='], {
    maxBuffer: 64 * 1024 * 1024,
  });
  const lines = stdout.split('\n').filter((line) => ` ${line} `.includes(` ${marker.name}=${marker.value} `));
  return new Set(lines.map((line) => Number.parseInt(line, 10)));
}
