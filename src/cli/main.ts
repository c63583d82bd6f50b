import path from 'node:path';
import { CommanderError } from 'commander';
import { exitCodes } from '../core/exit-codes.js';
import type { Problem } from '../problem.js';
import { end } from './end.js';
import { outliveClosedPipes } from '../outputs/outlive-closed-pipes.js';
import { createProgram } from './program.js';

/** The entry point of the command line. Expected problems are `Problem`s with a remedy; anything thrown is a bug, caught here once. */
export async function main(argv: readonly string[]): Promise<void> {
  outliveClosedPipes(process.stdout, process.stderr);
  try {
    await createProgram().parseAsync(argv, { from: 'user' });
  } catch (error) {
    endThrown(error);
  }
}

function endThrown(error: unknown): void {
  // Commander has printed what is wrong, or the help or version asked for.
  if (error instanceof CommanderError) {
    end(error.exitCode === 0 ? exitCodes.green : exitCodes.usage);
    return;
  }
  const problem = problemOfFile(error);
  if (problem) {
    end(problem);
    return;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`self-heal: this is a bug in self-heal, please report it\n\n${text}\n`);
  end(exitCodes.bug);
}

const freeSpace =
  'Free some space, then run npx self-heal resume. Nothing is lost: unfinished changes are completed or reverted first.';

/** What system errors mean when a run writes a file. */
const fileErrors: Readonly<Record<string, Pick<Problem, 'message' | 'remedy'>>> = {
  ENOSPC: { message: 'The disk is full', remedy: freeSpace },
  EDQUOT: { message: 'The disk is full', remedy: freeSpace },
  EROFS: { message: 'The file system is read-only', remedy: freeSpace },
  ENOENT: {
    message: '.self-heal was deleted while self-heal was running',
    remedy:
      'Check git diff: an unproven fix may still be in the project, and undo no longer knows about it. Then start again: npx self-heal run.',
  },
};

function problemOfFile(error: unknown): Problem | null {
  const { code = '', path: file } = error as NodeJS.ErrnoException;
  const found = fileErrors[code];
  const isOurs = file?.split(path.sep).includes('.self-heal') ?? false;
  if (!found || (code === 'ENOENT' && !isOurs)) return null;
  const where = file === undefined ? '' : `: ${file}`;
  return { kind: 'folder-not-writable', message: `${found.message}${where}`, remedy: found.remedy };
}
