import type { Problem } from '../problem.js';
import { reasonOf } from '../reason-of.js';

/** A file or folder that stands in the way of what is to be written. */
export function unreadable(cwd: string, error: unknown): Problem {
  return {
    kind: 'folder-not-writable',
    message: `the files in ${cwd} cannot be read`,
    detail: reasonOf(error),
    remedy: 'Fix the permissions or move what is in the way; nothing was written.',
  };
}

/** A file that cannot be written; what was written before it is right, so that a second try goes on there. */
export function unwritable(name: string, error: unknown, written: readonly string[]): Problem {
  const before = written.length === 0 ? 'nothing was written' : `already written: ${written.join(', ')}`;
  return {
    kind: 'folder-not-writable',
    message: `${name} cannot be written`,
    detail: reasonOf(error),
    remedy: `Make the folder writable and run \`self-heal init\` again; ${before}.`,
  };
}
