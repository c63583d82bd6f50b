import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Problem } from '../problem.js';
import type { PlannedFile } from './plan-init.js';
import { reasonOf } from '../reason-of.js';

/** Whether a file is written at all. */
export function isWritten({ action }: PlannedFile): boolean {
  return action !== 'nothing' && action !== 'keep';
}

/** Writes the plan. A file that was created after planning is not overwritten. */
export async function writePlan(plan: readonly PlannedFile[]): Promise<Problem | null> {
  const written: string[] = [];
  for (const file of plan.filter(isWritten)) {
    try {
      await mkdir(path.dirname(file.path), { recursive: true });
      await writeFile(file.path, file.text, { flag: file.action === 'write' ? 'wx' : 'w' });
    } catch (error) {
      return unwritable(file.name, error, written);
    }
    written.push(file.name);
  }
  return null;
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

const words: Readonly<Record<PlannedFile['action'], string>> = {
  write: 'wrote',
  extend: 'added .self-heal/ to',
  overwrite: 'overwrote',
  keep: 'kept',
  nothing: 'unchanged',
};

/** Renders one line per file. For a file that was kept, the line says how to overwrite it. */
export function planLines(plan: readonly PlannedFile[]): string {
  const lines = plan.map(({ name, action }) => {
    const line = `${words[action]} ${name}`;
    return action === 'keep' ? `${line} (it differs; --force overwrites it)` : line;
  });
  return `${lines.join('\n')}\n`;
}
