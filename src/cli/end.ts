import { exitCodes } from '../core/exit-codes.js';
import { exitCodeFor, formatProblem, type Problem } from '../problem.js';
import { redact } from '../secrets/redactor.js';

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
  const { detail, ...said } = result;
  const text = detail === undefined ? fit(formatProblem(said)) : formatProblem(result);
  process.stderr.write(`${redact(text)}\n`);
  process.exitCode = exitCodeFor(result);
}

/** Ends a command, with a problem in lines that fit the terminal. What measures them is loaded for a problem alone, since it takes 30 ms. */
export async function endFitted(result: number | Problem): Promise<void> {
  if (typeof result === 'number') return end(result);
  const { laidOut } = await import('../outputs/cut.js');
  return end(result, (text) => laidOut(text, process.stderr.columns));
}

/** Returns the action of a command: runs it, and ends the process with its result. */
export function endWith<Args extends unknown[]>(
  run: (...args: Args) => Promise<number | Problem>,
): (...args: Args) => Promise<void> {
  return async (...args) => endFitted(await run(...args));
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
