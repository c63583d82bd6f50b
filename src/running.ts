import { readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { processEntry } from './process/proc-table.js';
import type { RunFolder } from './run-folder.js';
import { writeFileAtomic } from './write-file-atomic.js';

/** The states of the tree around a change that is not decided yet; `after` is null while an agent still works. */
export interface OpenTransaction {
  readonly before: string;
  readonly after: string | null;
}

/** From one recorded state to another: what is as `after` becomes as `before`. */
export interface Move {
  readonly before: string;
  readonly after: string;
}

/**
 * Moves of proven changes that were begun: `ring`, the way back for changes that are out for a check; `undo`, what the user has asked for.
 * Whoever finds them makes them.
 */
export interface Unfinished {
  readonly why: 'ring' | 'undo';
  readonly moves: readonly Move[];
}

/**
 * What a run that is at work says of itself in `running.json`, so that the next command can tell that it was killed, end what it
 * left behind and take back what it had not decided (HN-2, AG-10). Its troubles stop nothing.
 */
export interface Running {
  /** An agent is about to change the tree that is recorded as `before`. */
  opened(before: string | null): Promise<void>;
  /** It has ended, and left the tree as `after`. */
  changed(before: string | null, after: string | null): Promise<void>;
  /** Proven changes are about to be moved; whatever ends this process before `decided`, these moves are made by the next command. */
  moving(unfinished: Unfinished): Promise<void>;
  /** Its change was kept or taken back. */
  decided(): Promise<void>;
  /** The run is over. */
  ended(): Promise<void>;
}

/** A run whose process is gone although it never ended. */
export interface KilledRun {
  readonly runId: string;
  readonly dir: string;
  readonly transaction: OpenTransaction | null;
  readonly unfinished: Unfinished | null;
  /** When it was last known to be alive, in milliseconds since the epoch. */
  readonly aliveAt: number;
}

interface RunningFile {
  schemaVersion: 1;
  pid: number;
  /** The start of the process in the system's own unit: pids come again. */
  startedAt: string | null;
  transaction: OpenTransaction | null;
  unfinished?: Unfinished;
}

const fileName = 'running.json';
const BEAT_MS = 500;

/** Says that this process is at work on a run. */
export async function announceRunning({ dir }: Pick<RunFolder, 'dir'>): Promise<Running> {
  const file = path.join(dir, fileName);
  const startedAt = (await processEntry(process.pid))?.startedAt ?? null;
  let beat: NodeJS.Timeout | null = null;
  const write = async (transaction: OpenTransaction | null, unfinished?: Unfinished) => {
    const more = unfinished ? { unfinished } : {};
    const text: RunningFile = { schemaVersion: 1, pid: process.pid, startedAt, transaction, ...more };
    await writeFileAtomic(file, `${JSON.stringify(text)}\n`).catch(() => undefined);
  };
  const rest = () => {
    if (beat) clearInterval(beat);
    beat = null;
  };
  await write(null);
  return {
    opened: async (before) => {
      if (before === null) return;
      await write({ before, after: null });
      // Until when it lived tells an agent's edits from those that somebody made later.
      beat = setInterval(() => {
        const now = new Date();
        utimes(file, now, now).catch(() => undefined);
      }, BEAT_MS).unref();
    },
    changed: async (before, after) => {
      rest();
      if (before !== null && after !== null) await write({ before, after });
    },
    moving: async (unfinished) => {
      rest();
      await write(null, unfinished);
    },
    decided: async () => {
      rest();
      await write(null);
    },
    ended: async () => {
      rest();
      await rm(file, { force: true }).catch(() => undefined);
    },
  };
}

/** Nobody is told. */
export const notRunning: Running = {
  opened: async () => undefined,
  changed: async () => undefined,
  moving: async () => undefined,
  decided: async () => undefined,
  ended: async () => undefined,
};

/** The runs of a project that were killed, the oldest first. */
export async function killedRuns(projectRoot: string): Promise<KilledRun[]> {
  const runs = path.join(projectRoot, '.self-heal', 'runs');
  const names = await readdir(runs).catch(() => []);
  const found = await Promise.all(names.map((runId) => killedRun(runId, path.join(runs, runId))));
  return found.filter((one) => one !== null).toSorted((a, b) => (a.runId < b.runId ? -1 : 1));
}

/** The pid of a run that is at work, or null where its process is gone or it has ended. */
export async function pidAtWork(dir: string): Promise<number | null> {
  const said = parse(await readFile(path.join(dir, fileName), 'utf8').catch(() => ''));
  return said !== null && (await isAlive(said)) ? said.pid : null;
}

/** Says that nothing of a killed run is left to do. */
export async function forgetKilled({ dir }: KilledRun): Promise<void> {
  await rm(path.join(dir, fileName), { force: true });
}

async function killedRun(runId: string, dir: string): Promise<KilledRun | null> {
  const file = path.join(dir, fileName);
  const text = await readFile(file, 'utf8').catch(() => null);
  const info = await stat(file).catch(() => null);
  if (text === null || info === null) return null;
  const said = parse(text);
  if (said && (await isAlive(said))) return null;
  const unfinished = said?.unfinished ?? null;
  return { runId, dir, transaction: said?.transaction ?? null, unfinished, aliveAt: info.mtimeMs };
}

async function isAlive(said: RunningFile): Promise<boolean> {
  const process = await processEntry(said.pid);
  return process !== null && !process.zombie && process.startedAt === said.startedAt;
}

function parse(text: string): RunningFile | null {
  try {
    const said = JSON.parse(text) as RunningFile;
    return said.schemaVersion === 1 ? said : null;
  } catch {
    return null;
  }
}
