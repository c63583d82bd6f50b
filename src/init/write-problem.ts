import type { Problem } from '../problem.js';
import { reasonOf } from '../reason-of.js';

/** The problem that a file or folder stands in the way. */
export function unreadable(cwd: string, error: unknown): Problem {
  return {
    kind: 'folder-not-writable',
    message: `the files in ${cwd} cannot be read`,
    detail: reasonOf(error),
    remedy: 'Fix the permissions or move the files that are in the way. Nothing was written.',
  };
}

/** The problem that a file cannot be written. Files written before it are complete, so running again continues from there. */
export function unwritable(name: string, error: unknown, written: readonly string[]): Problem {
  const before = written.length === 0 ? 'nothing was written' : `already written: ${written.join(', ')}`;
  return {
    kind: 'folder-not-writable',
    message: `${name} cannot be written`,
    detail: reasonOf(error),
    remedy: `Make the folder writable and run \`self-heal init\` again (${before}).`,
  };
}
