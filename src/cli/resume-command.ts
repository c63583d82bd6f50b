import { Command } from 'commander';
import { endWith } from './end.js';
import { addAgentsFlag, addStoreFlag, addVerifyFlag, addWaitFlag } from './options.js';

/** `self-heal resume`: continues a killed, paused or limited run where it stopped, with its counts (ME-8). */
export function resumeCommand(): Command {
  return addStoreFlag(addAgentsFlag(addVerifyFlag(addWaitFlag(new Command('resume')))))
    .description('continue a run that was killed, interrupted, paused or stopped by a limit')
    .argument('[run]', 'its id, the name of its folder in .self-heal/runs (default: the newest run)')
    .option('--json', 'print report.json to standard output')
    .action(endWith(async () => (await import('./run-resume.js')).runResume));
}
