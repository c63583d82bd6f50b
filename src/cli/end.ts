import { exitCodes } from '../core/exit-codes.js';
import { exitCodeFor, formatProblem, type Problem } from '../problem.js';
import { redact } from '../secrets/redact.js';

/** Prints what a command was asked for, as text or as a document of JSON; gives the exit code. */
export function print(answer: string | object): number {
  process.stdout.write(`${typeof answer === 'string' ? answer : JSON.stringify(answer, null, 2)}\n`);
  return exitCodes.green;
}

/** How a command ends: with an exit code, or with a problem, which is shown and has an exit code of its own. */
export function end(ending: number | Problem): void {
  if (typeof ending === 'number') {
    process.exitCode = ending;
    return;
  }
  // Its detail may be what a program of the project said.
  process.stderr.write(`${redact(formatProblem(ending))}\n`);
  process.exitCode = exitCodeFor(ending);
}
