import type { Command } from 'commander';
import { type BlameFlags, createBlameRequest } from '../clients/blame/blame-request.js';
import { runCommand } from '../command/run-command.js';
import type { Problem } from '../problem.js';
import { createAction } from './end-command.js';
import { addWaitFlag, agentsFlag, collectValues, configFlag } from './options.js';

const examples = `
Runs the tests with changes reverted, first all of them and then fewer, until it
finds the smallest set whose reversal makes the tests pass. Your files are
restored afterwards. The search covers all changes, also uncommitted ones, since
a run here last saw the test pass; if there was no such run, since the branch
left the default branch, or the last ten commits.

  self-heal blame                   the tests that the last run left failing, or
                                    the whole suite
  self-heal blame cart.spec.ts:9    this test
  self-heal blame --base v1.4       only changes since this tag`;

/** `self-heal blame`: finds the change that broke a test, with proof (BL-1). */
export function define(command: Command): Command {
  return addWaitFlag(command)
    .argument(
      '[run-or-test]',
      'an earlier run, a cause of the last run (c1), or a test filter as in Playwright',
    )
    .option('--base <commit>', 'search only the changes since this commit, at which the test passed')
    .option(...configFlag)
    .option('--project <name>', 'only run tests of this Playwright project; may be repeated', collectValues)
    .option(...agentsFlag)
    .option('--json', 'print report.json to standard output; causes[].blame has the result')
    .addHelpText('after', examples)
    .action(createAction(runBlame));
}

/** Runs `self-heal blame`; returns the exit code, or the problem that prevented the search. */
async function runBlame(test: string | undefined, options: BlameFlags): Promise<number | Problem> {
  const request = await createBlameRequest({ cwd: process.cwd(), env: process.env }, { ...options, test });
  return request.ok ? runCommand(request.value.request, request.value.command) : request.error;
}
