import { Command, Option } from 'commander';
import { exitCodes } from '../core/exit-codes.js';
import { endWith } from './end.js';
import { agentsFlag, configFlag } from './options.js';

const explanation = `
The self-test runs this installation in a temporary folder, with this project's
Playwright and browser and a scripted agent. A drifted locator and a real bug
must be healed and proven; a flake, a cheat, an empty claim, a hanging agent and
a fix that breaks another test must be recognized. Nothing in the project is
touched, and no account is needed.
Exit codes: ${exitCodes.green} a run can work (every guard fired),
            ${exitCodes.usage} it cannot (a guard did not fire), ${exitCodes.interrupted}/${exitCodes.terminated} interrupted`;

/** `self-heal doctor`: checks whether a run could work here, and says what to do if not (CL-11). */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('check everything a run needs; calls no model')
    .option(...agentsFlag)
    .option(...configFlag)
    .option(
      '--self-test',
      'plant faults in a scratch copy and check that each guard fires; takes about a minute',
    )
    .addOption(new Option('--drill', 'alias of --self-test').implies({ selfTest: true }).hideHelp())
    .option('--verbose', 'also print every setting in force, and where each value comes from')
    .option('--json', 'print one JSON document')
    .addHelpText('after', explanation)
    .action(endWith(async () => (await import('./run-doctor.js')).runDoctor));
}
