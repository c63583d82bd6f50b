import { Command } from 'commander';
import { builtInRunners } from '../core/built-in-runner.js';
import { end } from './end.js';
import { isLive } from './is-live.js';
import type { InitOptions } from './run-init.js';

/** `self-heal init`: sets a project up (CL-10). */
export function initCommand(): Command {
  return new Command('init')
    .description('set this project up: agents.yaml, the four slash commands, the ignore entry')
    .option('--agent <name>', `the agent program: ${builtInRunners.join(', ')} (default: the first on PATH)`)
    .option('--ci [system]', 'write a workflow too: github or gitlab (default: the one that is used here)')
    .option('-c, --config <file>', 'Playwright configuration file, or a folder that holds one')
    .option('--dry-run', 'show what would be written, and write nothing')
    .option('--force', 'overwrite files that have another text')
    .addHelpText('after', '\nTwice is as once, and what you have changed is left as it is.')
    .action(async (options: InitOptions) => {
      const { runInit } = await import('./run-init.js');
      const { env, stdin, stderr } = process;
      const isAskable = stdin.isTTY && isLive(env, stderr.isTTY);
      end(await runInit({ cwd: process.cwd(), env, isAskable, options }));
    });
}
