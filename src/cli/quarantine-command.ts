import { Command } from 'commander';
import { end } from './end.js';
import type { QuarantineOptions } from './run-quarantine.js';

/** `self-heal quarantine`: the tests whose failing was accepted for now, and the way out (ME-7). */
export function quarantineCommand(): Command {
  return new Command('quarantine')
    .description('the tests that are reported and do not fail the run; --release lets one go')
    .argument('[test]', 'only these: a part of the name, or the id of the escalation that put them there')
    .option('--release', 'let it go: red, it fails the run again, and agents may fix it')
    .option('--all', 'with --release: every one of several')
    .option('--agents <file>', 'agents.yaml to use instead of the one in this folder')
    .option('--json', 'print JSON')
    .action(async (word: string | undefined, options: QuarantineOptions) => {
      const { runQuarantine } = await import('./run-quarantine.js');
      end(await runQuarantine(word, options));
    });
}
