import { exitCodeFor, formatProblem, type Problem } from '../problem.js';
import { redact } from '../secrets/redact.js';

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
