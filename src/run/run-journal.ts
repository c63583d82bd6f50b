import path from 'node:path';
import { z } from 'zod';
import { processEntry } from '../process/proc-table.js';
import { runIdsIn } from './find-run.js';
import { runDirOf, type RunFolder } from './run-folder.js';
import { jsonOf } from '../json-of.js';
import { tryOr } from '../result.js';
import { readState, removeState, writeState } from '../state-folder.js';

/**
 * Maintains `running.json`, in which a run describes itself while it is in progress, so that the next command can tell if it was killed,
 * and clean up after it (AG-10). Failures to write it are ignored.
 */
export interface RunJournal {
  /** Records that the run is over. */
  ended(): Promise<void>;
}

/** A run whose process is gone although it never ended. */
export interface KilledRun {
  readonly runId: string;
  readonly dir: string;
}

const schema = z.object({
  schemaVersion: z.literal(1),
  pid: z.int().positive(),
  /** The start time of the process in the system's own unit, because pids are reused. */
  startedAt: z.string().nullable(),
});

const fileName = 'running.json';

/** Records that this process is working on a run. */
export async function openRunJournal({ dir }: Pick<RunFolder, 'dir'>): Promise<RunJournal> {
  const file = path.join(dir, fileName);
  const startedAt = (await processEntry(process.pid))?.startedAt ?? null;
  const text: z.infer<typeof schema> = { schemaVersion: 1, pid: process.pid, startedAt };
  tryOr(undefined, () => writeState(file, `${JSON.stringify(text)}\n`));
  return {
    ended: () => removeState(file).catch(() => undefined),
  };
}

/** Returns the killed runs of a project, oldest first. */
export async function killedRuns(projectRoot: string): Promise<KilledRun[]> {
  const ids = await runIdsIn(projectRoot);
  const runs = await Promise.all(ids.map((runId) => killedRun(runId, runDirOf(projectRoot, runId))));
  return runs.filter((run) => run !== null);
}

/** Returns the pid of a run in progress, or null if it has ended or its process is gone. */
export async function pidAtWork(dir: string): Promise<number | null> {
  const entry = read(dir);
  return entry && entry !== 'damaged' && (await isAlive(entry)) ? entry.pid : null;
}

/** Records that a killed run has been cleaned up completely. */
export function forgetKilled({ dir }: KilledRun): Promise<void> {
  return removeState(path.join(dir, fileName));
}

async function killedRun(runId: string, dir: string): Promise<KilledRun | null> {
  const entry = read(dir);
  if (entry === null || (entry !== 'damaged' && (await isAlive(entry)))) return null;
  return { runId, dir };
}

function read(dir: string): z.infer<typeof schema> | 'damaged' | null {
  const text = readState(path.join(dir, fileName));
  if (text === null) return null;
  const parsed = schema.safeParse(jsonOf(text.toString()));
  return parsed.success ? parsed.data : 'damaged';
}

async function isAlive(entry: z.infer<typeof schema>): Promise<boolean> {
  const process = await processEntry(entry.pid);
  return process !== null && !process.zombie && process.startedAt === entry.startedAt;
}
