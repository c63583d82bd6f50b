import path from 'node:path';
import type { Problem } from '../problem.js';
import { StateRefused } from '../state-folder.js';

const resume =
  'then run npx self-heal resume. Nothing is lost: unfinished changes are completed or reverted first.';
const full = { message: 'The disk is full', remedy: `Free some space, ${resume}` };
const tooManyOpen = {
  message: 'Too many open files',
  remedy: `Raise the limit, for example with ulimit -n 4096, ${resume}`,
};

const forbidden = {
  message: '.self-heal may not be written any more',
  remedy: `Give its files back to your user, ${resume}`,
};

/** What system errors mean when a run reads or writes a file. */
const fileErrors: Readonly<Record<string, Pick<Problem, 'message' | 'remedy'>>> = {
  ENOSPC: full,
  EDQUOT: full,
  EMFILE: tooManyOpen,
  ENFILE: tooManyOpen,
  EROFS: { message: 'The file system is read-only', remedy: `Make it writable, ${resume}` },
};

/** What others mean for a file in .self-heal. */
const ownFileErrors: typeof fileErrors = {
  EACCES: forbidden,
  EPERM: forbidden,
  ENOENT: {
    message: '.self-heal was deleted while self-heal was running',
    remedy:
      'Check git diff: an unproven fix may still be in the project, and undo no longer knows about it. Then start again: npx self-heal run.',
  },
};

/** Returns what an error of reading or writing a file means to the user, or null if it is a bug. */
export function problemOfFile(error: unknown): Problem | null {
  if (error instanceof StateRefused) return error.problem;
  const { code = '', path: file, syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'uv_cwd') {
    const message = 'the current folder does not exist any more';
    return { kind: 'usage', message, remedy: 'Change to your project, and run this again.' };
  }
  const isOurs = file?.split(path.sep).includes('.self-heal') ?? false;
  const found = fileErrors[code] ?? (isOurs ? ownFileErrors[code] : undefined);
  if (!found) return null;
  const where = file === undefined ? '' : `: ${file}`;
  return { kind: 'folder-not-writable', message: `${found.message}${where}`, remedy: found.remedy };
}
