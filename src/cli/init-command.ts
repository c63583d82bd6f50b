import { Command } from 'commander';
import { builtInRunners } from '../core/built-in-runner.js';
import { endWith } from './end.js';
import { configFlag, wholeNumber } from './options.js';

/** `self-heal init`: sets up a project (CL-10). */
export function initCommand(): Command {
  return (
    new Command('init')
      .description('set up this project: agents.yaml, four slash commands, an ignore entry')
      .option(
        '--agent <name>',
        `the agent program: ${builtInRunners.join(', ')}; or built-in for none (default: the first on PATH)`,
      )
      .option('--ci [system]', 'also write a CI workflow: github or gitlab (default: the one in use here)')
      // GitLab allows at most 200 parallel jobs, and GitHub 256 in a matrix.
      .option(
        '--shards <n>',
        'with --ci: run the tests on this many machines, and heal on one',
        wholeNumber(2, 200),
      )
      .option(...configFlag)
      .option('--dry-run', 'show what would be written without writing it')
      .option('--force', 'overwrite files that differ')
      .addHelpText('after', '\nRunning it again is safe: files that you have changed are left alone.')
      .action(endWith(async () => (await import('./run-init.js')).runInit))
  );
}
