import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Event, RunAsked } from '../event.js';
import { pidAtWork } from './run-journal.js';

/** A run as its folder tells of it. The store knows only those that found something to heal. */
export interface FolderRun {
  readonly runId: string;
  /** Null where it was killed, or is at work. */
  readonly outcome: string | null;
  readonly request: RunAsked;
  readonly resumedFrom: string | null;
  /** The process that is at work on it, or null. */
  readonly pid: number | null;
}

/** Reads what a run's `events.ndjson` says of its beginning and its end; null where it does not say how it was called. */
export async function runOfFolder(projectRoot: string, runId: string): Promise<FolderRun | null> {
  const dir = path.join(projectRoot, '.self-heal', 'runs', runId);
  const text = await readFile(path.join(dir, 'events.ndjson'), 'utf8').catch(() => '');
  const lines = text.trimEnd().split('\n');
  const started = eventOf(lines[0]);
  // Answers and an undoing are written behind it.
  const ended = lines.map(eventOf).findLast((event) => event?.type === 'run.ended');
  if (started?.type !== 'run.started' || started.dryRun || !started.request) return null;
  return {
    runId,
    outcome: ended?.outcome ?? null,
    request: started.request,
    resumedFrom: started.resumedFrom ?? null,
    pid: await pidAtWork(dir),
  };
}

/** A killed run may have left half a line. */
function eventOf(line: string | undefined): Event | null {
  try {
    return JSON.parse(line ?? '') as Event;
  } catch {
    return null;
  }
}
