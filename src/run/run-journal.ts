import path from 'node:path';
import { z } from 'zod';
import { readProcessEntry } from '../process/proc-table.js';
import { listRunIds } from './find-run.js';
import { findRunDir, type RunFolder } from './run-folder.js';
import { parseJson } from '../parse-json.js';
import { tryOr } from '../result.js';
import { readStateFile, removeStatePath, writeStateFile } from '../state-folder.js';

const schema = z.object({
  schemaVersion: z.literal(1),
  pid: z.int().positive(),
  /** The start time of the process in the system's own unit, because pids are reused. */
  startedAt: z.string().nullable(),
});

const fileName = 'running.json';

/**
 * Records in `running.json` that this process works on a run, so that the next command recognizes a kill and cleans up (AG-10). Ignores a failure to
 * write it.
 */
export async function markRunning({ dir }: Pick<RunFolder, 'dir'>): Promise<void> {
  const startedAt = (await readProcessEntry(process.pid))?.startedAt ?? null;
  const record: z.infer<typeof schema> = { schemaVersion: 1, pid: process.pid, startedAt };
  tryOr(undefined, () => writeStateFile(path.join(dir, fileName), `${JSON.stringify(record)}\n`));
}

/** Records that a run is over, or that a killed run has been cleaned up completely. */
export function markEnded({ dir }: Pick<RunFolder, 'dir'>): Promise<void> {
  return removeStatePath(path.join(dir, fileName));
}

/** Returns a project's runs whose process died before their end, oldest first. */
export async function listKilledRuns(projectRoot: string): Promise<KilledRun[]> {
  const ids = await listRunIds(projectRoot);
  const runs = await Promise.all(ids.map((runId) => readKilledRun(runId, findRunDir(projectRoot, runId))));
  return runs.filter((run) => run !== null);
}

/** Returns the pid of a run in progress; null if the run has ended or its process has died. */
export async function findActivePid(dir: string): Promise<number | null> {
  const entry = readRunningFile(dir);
  return entry && entry !== 'damaged' && (await isAlive(entry)) ? entry.pid : null;
}

type KilledRun = Pick<RunFolder, 'runId' | 'dir'>;

async function readKilledRun(runId: string, dir: string): Promise<KilledRun | null> {
  const entry = readRunningFile(dir);
  if (entry === null || (entry !== 'damaged' && (await isAlive(entry)))) return null;
  return { runId, dir };
}

function readRunningFile(dir: string): z.infer<typeof schema> | 'damaged' | null {
  const text = readStateFile(path.join(dir, fileName));
  if (text === null) return null;
  const parsed = schema.safeParse(parseJson(text.toString()));
  return parsed.success ? parsed.data : 'damaged';
}

async function isAlive(entry: z.infer<typeof schema>): Promise<boolean> {
  const process = await readProcessEntry(entry.pid);
  return process !== null && !process.isZombie && process.startedAt === entry.startedAt;
}
