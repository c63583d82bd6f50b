import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Attempt } from './core/attempt.js';
import type { StoredRun } from './inspect/find-run.js';
import type { StampedEvent } from './event.js';
import type { Workspace } from './workspace/workspace.js';

/** What taking back a run's changes came to; paths relative to the workspace's root. */
export interface Undone {
  readonly restored: readonly string[];
  /** Files that were changed again after the agents. */
  readonly leftAlone: readonly string[];
}

/** An attempt whose change a run kept. */
type Kept = Pick<Attempt, 'files' | 'judged' | 'takenBack' | 'checkpoints'>;

/** The changes of a run's agents that it kept, in their order; read from its events where it was killed before its report. */
export async function keptChanges({ dir, report }: StoredRun): Promise<Kept[]> {
  const attempts = report ? report.causes.flatMap((cause) => cause.attempts) : await judgedAttempts(dir);
  return attempts.filter(
    ({ files, judged, takenBack, checkpoints }) =>
      files.length > 0 && !takenBack && checkpoints !== null && (judged === 'green' || judged === 'changed'),
  );
}

/** Takes them back, the newest first; what somebody has changed since stays, and is named (HN-8). */
export async function undo(workspace: Workspace, kept: readonly Kept[]): Promise<Undone> {
  const restored = new Set<string>();
  const leftAlone = new Set<string>();
  for (const { checkpoints } of kept.toReversed()) {
    if (!checkpoints) continue;
    const back = await workspace.takeBack(checkpoints.before, checkpoints.after, [...leftAlone]);
    for (const file of back.restored) restored.add(file);
    for (const file of back.leftAlone) leftAlone.add(file);
  }
  return { restored: [...restored].filter((file) => !leftAlone.has(file)), leftAlone: [...leftAlone] };
}

async function judgedAttempts(dir: string): Promise<Attempt[]> {
  const text = await readFile(path.join(dir, 'events.ndjson'), 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    const event = parse(line);
    return event?.type === 'attempt.judged' ? [event.attempt] : [];
  });
}

function parse(line: string): StampedEvent | null {
  try {
    return JSON.parse(line) as StampedEvent;
  } catch {
    return null;
  }
}
