import { exitCodes } from '../model/exit-codes.js';
import { logText } from '../visible-text.js';
import { exitCodeFor, formatProblem, type Problem } from '../problem.js';
import { redact } from '../secrets/redactor.js';
import path from 'node:path';
import { StateRefused } from '../state-folder.js';

/** Prints the answer of a command, as text or as a JSON document, and returns the exit code. */
export function print(answer: string | object): number {
  process.stdout.write(`${typeof answer === 'string' ? answer : JSON.stringify(answer, null, 2)}\n`);
  return exitCodes.green;
}

/** Ends a command with an exit code, or with a problem, which is printed and has an exit code of its own. */
export function end(result: number | Problem, fit = (text: string) => text): void {
  if (typeof result === 'number') {
    process.exitCode = result;
    return;
  }
  // The detail may contain output of the project's programs.
  const { detail, ...rest } = result;
  const text = detail === undefined ? fit(formatProblem(rest)) : formatProblem(result);
  process.stderr.write(`${logText(redact(text))}\n`);
  process.exitCode = exitCodeFor(result);
}

/** Ends a command; wraps a problem to fit the terminal. Loads the code that measures text only for a problem, because that takes 30 ms. */
export async function endFitted(result: number | Problem): Promise<void> {
  if (typeof result === 'number') return end(result);
  const { wrapLines: laidOut } = await import('../outputs/cut.js');
  return end(result, (text) => laidOut(text, process.stderr.columns));
}

/** Returns the action of a command: runs it, and ends the process with its result. */
export function endWith<Args extends unknown[]>(
  run: (...args: Args) => Promise<number | Problem>,
): (...args: Args) => Promise<void> {
  return async (...args) => endFitted(await run(...args));
}

/**
 * Ends the process immediately on an uncaught error, for which Node would exit with 1, as if tests still failed. A run has its own listener, and ends
 * with the error after it has cleaned up.
 */
export function endOnUncaught(report: (error: unknown) => void): void {
  process.on('uncaughtException', (error) => {
    if (process.listenerCount('uncaughtException') > 1) return;
    report(error);
    process.exit();
  });
}

const again =
  'then run npx self-heal run again. Nothing is lost: unfinished changes are completed or reverted first, and fixes that were green are tried before an agent is paid.';
const full = { message: 'The disk is full', remedy: `Free some space, ${again}` };
const tooManyOpen = {
  message: 'Too many open files',
  remedy: `Raise the limit, for example with ulimit -n 4096, ${again}`,
};

const forbidden = {
  message: 'self-heal may no longer write to .self-heal',
  remedy: `Make your user the owner of its files, ${again}`,
};

/** The meaning of system errors for reading or writing a file. */
const fileErrors: Readonly<Record<string, Pick<Problem, 'message' | 'remedy'>>> = {
  ENOSPC: full,
  EDQUOT: full,
  EMFILE: tooManyOpen,
  ENFILE: tooManyOpen,
  EROFS: { message: 'The file system is read-only', remedy: `Make it writable, ${again}` },
};

/** The meaning of further errors for a file in .self-heal. */
const ownFileErrors: typeof fileErrors = {
  EACCES: forbidden,
  EPERM: forbidden,
  ENOENT: {
    message: '.self-heal was deleted while self-heal was running',
    remedy:
      'Check git diff: an unproven fix may still be in the project, and undo no longer knows about it. Then start again: npx self-heal run.',
  },
};

/** Explains an error of reading or writing a file to the user; null if it is a bug. */
export function explainFileError(error: unknown): Problem | null {
  if (error instanceof StateRefused) return error.problem;
  const { code = '', path: file, syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'uv_cwd') {
    const message = 'the current folder no longer exists';
    return { kind: 'usage', message, remedy: 'Change to your project, and run this again.' };
  }
  const isOurs = file?.split(path.sep).includes('.self-heal') ?? false;
  const meaning = fileErrors[code] ?? (isOurs ? ownFileErrors[code] : undefined);
  if (!meaning) return null;
  const where = file === undefined ? '' : `: ${file}`;
  return { kind: 'folder-not-writable', message: `${meaning.message}${where}`, remedy: meaning.remedy };
}
