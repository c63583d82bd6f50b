import { Command } from 'commander';
import { exitCodes } from '../core/exit-codes.js';
import { endWith } from './end.js';
import { agentsFlag, configFlag } from './options.js';

const explanation = `
The self-test runs this installation in a temporary folder, with this project's
Playwright and a scripted agent that makes seven bad fixes: all must be caught.
It touches nothing in the project, needs no browser and no account.
Exit codes: ${exitCodes.green} a run can work (all were caught),
            ${exitCodes.usage} it cannot (one was not), ${exitCodes.interrupted}/${exitCodes.terminated} interrupted`;

/** `self-heal doctor`: checks whether a run could work here, and says what to do if not (CL-11). */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('check everything a run needs; calls no model')
    .option(...agentsFlag)
    .option(...configFlag)
    .option(
      '--self-test',
      'let a scripted agent make seven bad fixes in a scratch project; all must be caught',
    )
    .option('--verbose', 'also print every setting in force, and where each value comes from')
    .option('--json', 'print one JSON document')
    .addHelpText('after', explanation)
    .action(endWith(async () => (await import('./run-doctor.js')).runDoctor));
}
