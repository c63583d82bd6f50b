import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Attempt } from './core/attempt.js';
import type { StoredRun } from './inspect/find-run.js';
import type { StampedEvent } from './event.js';
import { makeMoves } from './make-moves.js';
import { type Move, notRunning, type Running } from './running.js';
import type { TakenBack, Workspace } from './workspace/workspace.js';

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

/** The moves that take them back, the newest first. */
function wayBackOf(kept: readonly Kept[]): Move[] {
  return kept.toReversed().flatMap(({ checkpoints }) => (checkpoints ? [checkpoints] : []));
}

/**
 * Takes them back, the newest first; what somebody has changed since stays, and is named (HN-8). Killed at it, it is finished by the next
 * command (HN-2).
 */
export async function undo(
  workspace: Workspace,
  kept: readonly Kept[],
  running: Running = notRunning,
): Promise<TakenBack> {
  const moves = wayBackOf(kept);
  await running.moving({ why: 'undo', moves });
  const undone = await makeMoves(workspace, moves);
  await running.ended();
  return undone;
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
