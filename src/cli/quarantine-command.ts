import { Command } from 'commander';
import { endWith } from './end.js';
import { agentsFlag } from './options.js';

/** `self-heal quarantine`: lists the tests whose failure is accepted for now, and releases them (ME-7). */
export function quarantineCommand(): Command {
  return new Command('quarantine')
    .description(
      'list quarantined tests, which are reported but do not fail the run; --release ends a quarantine',
    )
    .argument('[test]', 'part of a test name, or the id of the escalation that quarantined it')
    .option('--release', 'end the quarantine: the test can fail the run again, and agents may fix it')
    .option('--all', 'with --release: release all that match')
    .option(...agentsFlag)
    .option('--json', 'print JSON')
    .action(endWith(async () => (await import('./run-quarantine.js')).runQuarantine));
}
