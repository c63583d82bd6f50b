import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { processEntry } from '../process/proc-table.js';
import { type RunFolder, runsFolder } from './run-folder.js';
import { jsonOf } from '../json-of.js';
import { writeFileAtomic } from '../write-file-atomic.js';

/**
 * Maintains `running.json`, in which a run describes itself while it is in progress, so that the next command can tell if it was killed,
 * and clean up after it (AG-10). Failures to write it are ignored.
 */
export interface RunJournal {
  /** Records the folders of all copies in which agents work, before anything is written into the newest one. */
  hasCopies(folders: readonly string[]): Promise<void>;
  /** Records that the run is over. */
  ended(): Promise<void>;
}

/** A run whose process is gone although it never ended. */
export interface KilledRun {
  readonly runId: string;
  readonly dir: string;
  /** Its copies of the project. */
  readonly copies: readonly string[];
}

const schema = z.object({
  schemaVersion: z.literal(1),
  pid: z.int().positive(),
  /** The start time of the process in the system's own unit, because pids are reused. */
  startedAt: z.string().nullable(),
  copies: z.array(z.string()).default([]),
});

const fileName = 'running.json';

/** Records that this process is working on a run. */
export async function openRunJournal({ dir }: Pick<RunFolder, 'dir'>): Promise<RunJournal> {
  const file = path.join(dir, fileName);
  const startedAt = (await processEntry(process.pid))?.startedAt ?? null;
  const write = (copies: readonly string[]) => {
    const text: z.infer<typeof schema> = {
      schemaVersion: 1,
      pid: process.pid,
      startedAt,
      copies: [...copies],
    };
    return writeFileAtomic(file, `${JSON.stringify(text)}\n`).catch(() => undefined);
  };
  await write([]);
  return {
    hasCopies: write,
    ended: () => rm(file, { force: true }).catch(() => undefined),
  };
}

/** Returns the killed runs of a project, oldest first. */
export async function killedRuns(projectRoot: string): Promise<KilledRun[]> {
  const runs = runsFolder(projectRoot);
  const names = await readdir(runs).catch(() => []);
  const found = await Promise.all(names.map((runId) => killedRun(runId, path.join(runs, runId))));
  return found.filter((one) => one !== null).toSorted((a, b) => (a.runId < b.runId ? -1 : 1));
}

/** Returns the pid of a run in progress, or null if it has ended or its process is gone. */
export async function pidAtWork(dir: string): Promise<number | null> {
  const said = await read(dir);
  return said && said !== 'damaged' && (await isAlive(said)) ? said.pid : null;
}

/** Records that a killed run has been cleaned up completely. */
export async function forgetKilled({ dir }: KilledRun): Promise<void> {
  await rm(path.join(dir, fileName), { force: true });
}

async function killedRun(runId: string, dir: string): Promise<KilledRun | null> {
  const said = await read(dir);
  if (said === null || (said !== 'damaged' && (await isAlive(said)))) return null;
  return { runId, dir, copies: said === 'damaged' ? [] : said.copies };
}

async function read(dir: string): Promise<z.infer<typeof schema> | 'damaged' | null> {
  const text = await readFile(path.join(dir, fileName), 'utf8').catch(() => null);
  if (text === null) return null;
  const parsed = schema.safeParse(jsonOf(text));
  return parsed.success ? parsed.data : 'damaged';
}

async function isAlive(said: z.infer<typeof schema>): Promise<boolean> {
  const process = await processEntry(said.pid);
  return process !== null && !process.zombie && process.startedAt === said.startedAt;
}
