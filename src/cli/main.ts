import { CommanderError } from 'commander';
import { exitCodes } from '../core/exit-codes.js';
import type { Problem } from '../problem.js';
import { end } from './end.js';
import { outliveClosedPipes } from '../outputs/outlive-closed-pipes.js';
import { createProgram } from './program.js';

/**
 * The command line: the only composition root, and the only place that sets the exit code. Expected problems are
 * `Problem`s with a remedy; what is thrown is a bug, caught here once.
 */
export async function main(argv: readonly string[]): Promise<void> {
  outliveClosedPipes(process.stdout, process.stderr);
  try {
    await createProgram().parseAsync(argv, { from: 'user' });
  } catch (error) {
    endThrown(error);
  }
}

function endThrown(error: unknown): void {
  // Commander has said what is wrong, or printed the help or the version that was asked for.
  if (error instanceof CommanderError) {
    end(error.exitCode === 0 ? exitCodes.green : exitCodes.usage);
    return;
  }
  const problem = problemOfDisk(error);
  if (problem) {
    end(problem);
    return;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`self-heal: this is a bug in self-heal, please report it\n\n${text}\n`);
  end(exitCodes.bug);
}

/** What the system says of a disk that takes no more, wherever something was to be written. */
function problemOfDisk(error: unknown): Problem | null {
  const { code, path } = error as NodeJS.ErrnoException;
  if (code !== 'ENOSPC' && code !== 'EDQUOT' && code !== 'EROFS') return null;
  const where = path === undefined ? '' : `: ${path}`;
  return {
    kind: 'folder-not-writable',
    message: code === 'EROFS' ? `The file system is read-only${where}` : `The disk is full${where}`,
    remedy:
      'Free some space, then run npx self-heal resume. Nothing is lost: changes that were begun are finished or reverted first.',
  };
}
