import { exitCodes } from '../core/exit-codes.js';
import { laidOut } from '../outputs/cut.js';
import { exitCodeFor, formatProblem, type Problem } from '../problem.js';
import { redact } from '../secrets/redactor.js';

/** Prints the answer of a command, as text or as a JSON document, and returns the exit code. */
export function print(answer: string | object): number {
  process.stdout.write(`${typeof answer === 'string' ? answer : JSON.stringify(answer, null, 2)}\n`);
  return exitCodes.green;
}

/** Prints what a command has to say to a person: a terminal gets lines that fit, a pipe whole ones. Returns the exit code. */
export function tell(text: string): number {
  return print(laidOut(text, process.stdout.columns));
}

/** Ends a command with an exit code, or with a problem, which is printed and has an exit code of its own. */
export function end(result: number | Problem): void {
  if (typeof result === 'number') {
    process.exitCode = result;
    return;
  }
  // The detail may contain output of the project's programs.
  const { detail, ...said } = result;
  const text =
    detail === undefined ? laidOut(formatProblem(said), process.stderr.columns) : formatProblem(result);
  process.stderr.write(`${redact(text)}\n`);
  process.exitCode = exitCodeFor(result);
}

/** Returns the action of a command: runs it, and ends the process with its result. */
export function endWith<Args extends unknown[]>(
  run: (...args: Args) => Promise<number | Problem>,
): (...args: Args) => Promise<void> {
  return async (...args) => end(await run(...args));
}

/**
 * Ends the process at once if something throws outside of the command's own code, where Node would exit with 1, as if tests still failed. A run
 * listens itself, and ends with the error when it has cleaned up.
 */
export function endOnUncaught(tell: (error: unknown) => void): void {
  process.on('uncaughtException', (error) => {
    if (process.listenerCount('uncaughtException') > 1) return;
    tell(error);
    process.exit();
  });
}
