import path from 'node:path';
import { CommanderError } from 'commander';
import { exitCodes } from '../core/exit-codes.js';
import type { Problem } from '../problem.js';
import { end } from './end.js';
import { outliveClosedPipes } from '../outputs/outlive-closed-pipes.js';
import { createProgram } from './program.js';

/** The entry point of the command line. Expected problems are `Problem`s with a remedy; anything thrown is a bug, caught only here. */
export async function main(argv: readonly string[]): Promise<void> {
  outliveClosedPipes(process.stdout, process.stderr);
  // Node would exit with 1, which means that tests still fail.
  process.on('uncaughtException', (error) => {
    endThrown(error);
    process.exit();
  });
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

const resume =
  'then run npx self-heal resume. Nothing is lost: unfinished changes are completed or reverted first.';
const full = { message: 'The disk is full', remedy: `Free some space, ${resume}` };
const tooManyOpen = {
  message: 'Too many open files',
  remedy: `Raise the limit, for example with ulimit -n 4096, ${resume}`,
};

/** What system errors mean when a run reads or writes a file. */
const fileErrors: Readonly<Record<string, Pick<Problem, 'message' | 'remedy'>>> = {
  ENOSPC: full,
  EDQUOT: full,
  EMFILE: tooManyOpen,
  ENFILE: tooManyOpen,
  EROFS: { message: 'The file system is read-only', remedy: `Make it writable, ${resume}` },
  ENOENT: {
    message: '.self-heal was deleted while self-heal was running',
    remedy:
      'Check git diff: an unproven fix may still be in the project, and undo no longer knows about it. Then start again: npx self-heal run.',
  },
};

function problemOfFile(error: unknown): Problem | null {
  const { code = '', path: file, syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'uv_cwd') {
    const message = 'the current folder does not exist any more';
    return { kind: 'usage', message, remedy: 'Change to your project, and run this again.' };
  }
  const found = fileErrors[code];
  const isOurs = file?.split(path.sep).includes('.self-heal') ?? false;
  if (!found || (code === 'ENOENT' && !isOurs)) return null;
  const where = file === undefined ? '' : `: ${file}`;
  return { kind: 'folder-not-writable', message: `${found.message}${where}`, remedy: found.remedy };
}
