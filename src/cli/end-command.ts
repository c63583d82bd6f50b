import { exitCodes } from '../model/exit-codes.js';
import { logText } from '../visible-text.js';
import { getExitCode, formatProblem, type Problem } from '../problem.js';
import { redact } from '../secrets/redactor.js';
import path from 'node:path';
import { StateRefused } from '../state-folder.js';

/** Prints the output of a command, as text or as a JSON document, and returns the exit code. */
export function print(output: string | object): number {
  process.stdout.write(`${typeof output === 'string' ? output : JSON.stringify(output, null, 2)}\n`);
  return exitCodes.green;
}

/** Ends a command with an exit code, or prints a problem and ends with its exit code. */
export function endCommand(result: number | Problem, wrap = (text: string) => text): void {
  if (typeof result === 'number') {
    process.exitCode = result;
    return;
  }
  // The detail may contain output of the project's programs.
  const { detail, ...problem } = result;
  const text = detail === undefined ? wrap(formatProblem(problem)) : formatProblem(result);
  process.stderr.write(`${logText(redact(text))}\n`);
  process.exitCode = getExitCode(result);
}

/** Ends a command; wraps a problem to fit the terminal. */
export async function endCommandWrapped(result: number | Problem): Promise<void> {
  if (typeof result === 'number') return endCommand(result);
  // Loaded on demand, because loading takes 30 ms.
  const { wrapLines } = await import('../outputs/truncate.js');
  return endCommand(result, (text) => wrapLines(text, process.stderr.columns));
}

/** Returns the action of a command: runs it, and ends the process with its result. */
export function createAction<Args extends unknown[]>(
  run: (...args: Args) => Promise<number | Problem>,
): (...args: Args) => Promise<void> {
  return async (...args) => endCommandWrapped(await run(...args));
}

/**
 * Ends the process immediately on an uncaught error. Node would exit with 1, as if tests still failed. A run has its own listener, which cleans up
 * first.
 */
export function exitOnUncaughtError(report: (error: unknown) => void): void {
  process.on('uncaughtException', (error) => {
    if (process.listenerCount('uncaughtException') > 1) return;
    report(error);
    process.exit();
  });
}

const retryAdvice =
  'then run npx self-heal run again. Nothing is lost: it first completes or reverts unfinished changes, and tries fixes that were green before it starts an agent.';
const diskFull = { message: 'The disk is full', remedy: `Free some space, ${retryAdvice}` };
const tooManyOpenFiles = {
  message: 'Too many open files',
  remedy: `Raise the limit, for example with ulimit -n 4096, ${retryAdvice}`,
};

const stateUnwritable = {
  message: 'self-heal may no longer write to .self-heal',
  remedy: `Make your user the owner of its files, ${retryAdvice}`,
};

/** Texts for system errors when reading or writing a file. */
const fileErrors: Readonly<Record<string, Pick<Problem, 'message' | 'remedy'>>> = {
  ENOSPC: diskFull,
  EDQUOT: diskFull,
  EMFILE: tooManyOpenFiles,
  ENFILE: tooManyOpenFiles,
  EROFS: { message: 'The file system is read-only', remedy: `Make it writable, ${retryAdvice}` },
};

/** Texts for further errors with a file in .self-heal. */
const stateFileErrors: typeof fileErrors = {
  EACCES: stateUnwritable,
  EPERM: stateUnwritable,
  ENOENT: {
    message: '.self-heal was deleted while self-heal was running',
    remedy:
      'Check git diff: an unproven fix may still be in the project, and undo no longer knows about it. Then start again: npx self-heal run.',
  },
};

/** Returns a problem for a file system error, null for a bug. */
export function explainFileError(error: unknown): Problem | null {
  if (error instanceof StateRefused) return error.problem;
  const { code = '', path: file, syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'uv_cwd') {
    const message = 'the current folder no longer exists';
    return { kind: 'usage', message, remedy: "Change to your project's folder and try again." };
  }
  const isStateFile = file?.split(path.sep).includes('.self-heal') ?? false;
  const texts = fileErrors[code] ?? (isStateFile ? stateFileErrors[code] : undefined);
  if (!texts) return null;
  const message = file === undefined ? texts.message : `${texts.message}: ${file}`;
  return { kind: 'folder-not-writable', message, remedy: texts.remedy };
}
