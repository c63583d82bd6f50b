import { Command } from 'commander';
import { runSelfHeal } from '../heal/whole-run.js';
import type { RunOptions } from '../heal/run-request.js';
import type { Problem } from '../problem.js';
import { endWith } from './end.js';
import { addHealingFlags, addVerifyFlag, addWaitFlag, addWholeSelectionFlags } from './options.js';

const examples = `
Runs tests again and again, as the suite runs them and by themselves, and says
how often each fails, with 95 % bounds, and what makes it fail: other tests
before it (order), any others beside it (load), one that it shares something
with (data), another time zone (time), or none of these (random). Each flake
then goes to the agents of the route flaky. A fix has to pass so many runs, under
what makes the test fail, that a test which still failed as often as before would
pass them with a chance of at most 1 %.

  self-heal flaky                   what is flaky in the whole suite
  self-heal flaky cart.spec.ts:9    this test
  self-heal flaky --dry-run         measure and explain, without changing anything`;

/** `self-heal flaky`: measures, explains and heals what is flaky (FL-1 to FL-4). */
export function flakyCommand(): Command {
  const command = new Command('flaky')
    .description(
      'find flaky tests, say what makes each fail, and have them healed, with a proof that fits their rate',
    )
    .argument(
      '[filter...]',
      'test files, as Playwright takes them: regular expressions on the path, or file:line',
    );
  return addHealingFlags(addWaitFlag(addVerifyFlag(addWholeSelectionFlags(command))))
    .addHelpText('after', examples)
    .action(endWith(runFlaky));
}

function runFlaky(filters: string[], options: RunOptions): Promise<number | Problem> {
  return runSelfHeal({
    cwd: process.cwd(),
    env: process.env,
    filters,
    passThrough: [],
    options,
    flaky: true,
  });
}
