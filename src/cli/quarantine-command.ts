import { Command } from 'commander';
import { end } from './end.js';
import type { QuarantineOptions } from './run-quarantine.js';

/** `self-heal quarantine`: the tests whose failing was accepted for now, and the way out (ME-7). */
export function quarantineCommand(): Command {
  return new Command('quarantine')
    .description('list tests that are reported but do not fail the run; --release ends that')
    .argument('[test]', 'part of a test name, or the id of the escalation that quarantined it')
    .option('--release', 'end the quarantine: the test fails the run again, and agents may fix it')
    .option('--all', 'with --release: release all that match')
    .option('--agents <file>', 'agents.yaml to use instead of the one in this folder')
    .option('--json', 'print JSON')
    .action(async (word: string | undefined, options: QuarantineOptions) => {
      const { runQuarantine } = await import('./run-quarantine.js');
      end(await runQuarantine(word, options));
    });
}
