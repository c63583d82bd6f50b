import { Command } from 'commander';
import { addWaitFlag, agentsFlag, collect, configFlag } from './options.js';
import { end } from './end.js';
import type { BlameOptions } from './run-blame.js';

const examples = `
Tests are run again with changes reverted, until the smallest set is found that turns them green when reverted. Your files are
restored afterwards. It looks back to the last commit at which a run here saw the test green, or else to where the branch left the
default branch, or else only at what is not committed.

  self-heal blame                       what is red in the last run, or the whole suite
  self-heal blame cart.spec.ts:9        this test, committed or not
  self-heal blame --base v1.4           since that tag`;

/** `self-heal blame`: finds the change that broke a test, with proof (BL-1). */
export function blameCommand(): Command {
  return addWaitFlag(new Command('blame'))
    .description('find the change that broke a test by running it with changes reverted; no agent is started')
    .argument(
      '[run-or-test]',
      'an earlier run, a cause of the last one (c1), or tests as Playwright takes them',
    )
    .option('--base <commit>', 'a commit at which it was green')
    .option(...configFlag)
    .option('--project <name>', 'only run this project; may be given again', collect)
    .option(...agentsFlag)
    .option('--json', 'print report.json to standard output; the answer is in causes[].blame')
    .addHelpText('after', examples)
    .action(async (word: string | undefined, options: BlameOptions) => {
      const { runBlame } = await import('./run-blame.js');
      end(await runBlame(word, options));
    });
}
