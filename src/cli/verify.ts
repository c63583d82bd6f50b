import type { Command } from 'commander';
import { exitCodes } from '../model/exit-codes.js';
import type { VerifyFlags } from '../clients/verify/verify-request.js';
import type { Problem } from '../problem.js';
import { createAction } from './end-command.js';
import { addWaitFlag, agentsFlag, collectValues, configFlag } from './options.js';

const explanation = `
Proves all changes since the last red run, no matter who made them: the tests
check no less than before, the red tests pass with the changes and fail without
them, and nothing else broke. To show this, it reverts the changes and restores
them; in the end, your files are unchanged.

  self-heal verify                  after a red run and your fix
  self-heal verify --quick          only the tests that were red
  self-heal verify cart.spec.ts --base main
                                    a fix on a branch, such as a pull request
Exit codes: ${exitCodes.green} proven, ${exitCodes.red} failing, refused, not needed, or breaks other tests,
            ${exitCodes.personNeeded} neither proven nor refuted, or a person must review changed tests`;

/** `self-heal verify`: proves a fix by a person or any agent (HN-12). */
export function define(command: Command): Command {
  return addWaitFlag(command)
    .argument(
      '[filter...]',
      'the tests that the change should fix (default: those that failed in the last red run)',
    )
    .option('--base <commit>', 'compare with this commit instead of the last red run')
    .option('--review', 'let another agent review the change; this costs an agent run')
    .option('--quick', 'run only these tests, once without the change and twice with it')
    .option(...configFlag)
    .option('--project <name>', 'only run tests of this Playwright project; may be repeated', collectValues)
    .option(...agentsFlag)
    .option('--json', 'print report.json to standard output; verification has the result')
    .addHelpText('after', explanation)
    .action(createAction(runVerify));
}

async function runVerify(
  filters: readonly string[],
  { quick, ...options }: Omit<VerifyFlags, 'filters' | 'depth'> & { readonly quick?: boolean },
): Promise<number | Problem> {
  const depth = quick ? 'quick' : 'full';
  const project = { cwd: process.cwd(), env: process.env };
  const { createVerifyRequest } = await import('../clients/verify/verify-request.js');
  const request = await createVerifyRequest(project, { ...options, depth, filters });
  if (!request.ok) return request.error;
  const { runCommand } = await import('../command/run-command.js');
  return runCommand(request.value.request, request.value.command);
}
