import { Command } from 'commander';
import { exitCodes } from '../problem.js';
import { end } from './end.js';
import type { DoctorOptions } from './run-doctor.js';

const explanation = `
The drill runs this installation in a temporary folder, with this project's Playwright and browser and a scripted agent: a drifted
locator and a real bug have to be healed and proven; a flake, a cheat, an empty claim, a hanging agent and a fix that breaks another
test have to be seen through. Nothing of the project is touched, no account is needed.
Exit codes: ${exitCodes.green} a run can work (every guard fired), ${exitCodes.usage} it could not (one did not), ${exitCodes.interrupted}/${exitCodes.terminated} interrupted`;

/** `self-heal doctor`: whether a run could work here, and what to do where it could not (CL-11). */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('check everything that a run needs; no model is asked')
    .option('--agents <file>', 'agents.yaml to use instead of the one in this folder')
    .option('-c, --config <file>', 'Playwright configuration file, or a folder that holds one')
    .option('--drill', 'plant faults in a scratch copy, and show each guard firing; about a minute')
    .option('--json', 'print one JSON document')
    .addHelpText('after', explanation)
    .action(async (options: DoctorOptions) => {
      if (options.drill) end(await (await import('./doctor-drill.js')).doctorDrill(options));
      else end(await (await import('./run-doctor.js')).runDoctor(options));
    });
}
