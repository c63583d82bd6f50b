import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { processEntry } from '../process/proc-table.js';
import { type RunFolder, runsFolder } from './run-folder.js';
import { jsonOf } from '../json-of.js';
import { writeFileAtomic } from '../write-file-atomic.js';

/**
 * What a run that is at work says of itself in `running.json`, so that the next command can tell that it was killed, and end what it left
 * behind (AG-10). A failure to write it stops nothing.
 */
export interface RunJournal {
  /** The folders of all copies in which agents work, before anything is in the last of them. */
  hasCopies(folders: readonly string[]): Promise<void>;
  /** The run is over. */
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
  /** The start of the process in the system's own unit: pids come again. */
  startedAt: z.string().nullable(),
  copies: z.array(z.string()).default([]),
});

const fileName = 'running.json';

/** Says that this process is at work on a run. */
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

/** The runs of a project that were killed, the oldest first. */
export async function killedRuns(projectRoot: string): Promise<KilledRun[]> {
  const runs = runsFolder(projectRoot);
  const names = await readdir(runs).catch(() => []);
  const found = await Promise.all(names.map((runId) => killedRun(runId, path.join(runs, runId))));
  return found.filter((one) => one !== null).toSorted((a, b) => (a.runId < b.runId ? -1 : 1));
}

/** The pid of a run that is at work, or null where its process is gone or it has ended. */
export async function pidAtWork(dir: string): Promise<number | null> {
  const said = await read(dir);
  return said && said !== 'damaged' && (await isAlive(said)) ? said.pid : null;
}

/** Says that nothing of a killed run is left to do. */
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
