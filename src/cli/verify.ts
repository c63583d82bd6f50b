import type { Command } from 'commander';
import { exitCodes } from '../model/exit-codes.js';
import type { VerifyFlags } from '../clients/verify/verify-request.js';
import type { Problem } from '../problem.js';
import { endWith } from './end.js';
import { addWaitFlag, agentsFlag, collectValues, configFlag } from './options.js';

const explanation = `
Proves all changes since the last red run, whoever made them: the tests check no
less than before, the red tests are green with the changes and red without them,
and nothing else broke. For that it takes the changes out and puts them back;
your files end as they were.

  self-heal verify                  after a red run and your fix
  self-heal verify --quick          only the tests that were red
  self-heal verify cart.spec.ts --base main
                                    a fix on a branch, such as a pull request
Exit codes: ${exitCodes.green} proven, ${exitCodes.red} still red, refused, not needed, or breaks other tests,
            ${exitCodes.personNeeded} not shown, or a person has to look at changed tests`;

/** `self-heal verify`: proves what somebody else has changed (HN-12). */
export function define(command: Command): Command {
  return addWaitFlag(command)
    .argument('[filter...]', 'the tests that the fix is for (default: the red tests of the last red run)')
    .option('--base <commit>', 'compare with this commit instead')
    .option('--review', 'have another agent read the change; this costs an agent run')
    .option('--quick', 'run only these tests, once without the change and twice with it')
    .option(...configFlag)
    .option('--project <name>', 'only run this project; may be repeated', collectValues)
    .option(...agentsFlag)
    .option('--json', 'print report.json to standard output; the answer is in verification')
    .addHelpText('after', explanation)
    .action(endWith(runVerify));
}

async function runVerify(
  filters: readonly string[],
  { quick, ...options }: Omit<VerifyFlags, 'filters' | 'depth'> & { readonly quick?: boolean },
): Promise<number | Problem> {
  const depth = quick ? 'quick' : 'full';
  const project = { cwd: process.cwd(), env: process.env };
  const { verifyRequest } = await import('../clients/verify/verify-request.js');
  const request = await verifyRequest(project, { ...options, depth, filters });
  if (!request.ok) return request.error;
  const { runCommand } = await import('../command/run-command.js');
  return runCommand(request.value.request, request.value.command);
}
