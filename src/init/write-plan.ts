import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import type { PlannedFile } from './plan-init.js';
import { reasonOf } from '../reason-of.js';

/** The outcome for a planned file. */
export type WriteOutcome = 'written' | 'extended' | 'unchanged' | 'left' | 'overwritten';

/** A planned file, and what was or would be done with it. */
export interface WrittenFile {
  readonly file: PlannedFile;
  readonly outcome: WriteOutcome;
}

/** Returns the outcome for each file. A file with different content is kept unless `force` is set. */
export function outcomesOf(plan: readonly PlannedFile[], force: boolean): WrittenFile[] {
  return plan.map((file) => ({ file, outcome: outcomeOf(file, force) }));
}

/** Writes the plan. A file that was created after planning is not overwritten. */
export async function writePlan(
  plan: readonly PlannedFile[],
  force: boolean,
): Promise<Result<readonly WrittenFile[], Problem>> {
  const outcomes = outcomesOf(plan, force);
  const written: string[] = [];
  for (const { file, outcome } of outcomes) {
    if (outcome === 'unchanged' || outcome === 'left') continue;
    try {
      await mkdir(path.dirname(file.path), { recursive: true });
      await writeFile(file.path, file.text, { flag: outcome === 'written' ? 'wx' : 'w' });
    } catch (error) {
      return err(unwritable(file.name, error, written));
    }
    written.push(file.name);
  }
  return ok(outcomes);
}

function outcomeOf({ state }: PlannedFile, force: boolean): WriteOutcome {
  switch (state) {
    case 'new':
      return 'written';
    case 'extended':
      return 'extended';
    case 'same':
      return 'unchanged';
    case 'own':
      return 'overwritten';
    case 'different':
      return force ? 'overwritten' : 'left';
    default:
      return state satisfies never;
  }
}

/** The problem that a file cannot be written. Files written before it are complete, so running again continues from there. */
function unwritable(name: string, error: unknown, written: readonly string[]): Problem {
  const before = written.length === 0 ? 'nothing was written' : `already written: ${written.join(', ')}`;
  return {
    kind: 'folder-not-writable',
    message: `${name} cannot be written`,
    detail: reasonOf(error),
    remedy: `Make the folder writable and run \`self-heal init\` again (${before}).`,
  };
}
