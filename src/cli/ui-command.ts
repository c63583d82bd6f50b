import { Command, InvalidArgumentError, Option } from 'commander';
import { end } from './end.js';
import type { UiCommandOptions } from './run-ui.js';

/** `self-heal ui`: the newest run as it happens, in a browser, with the questions to decide (RP-5). */
export function uiCommand(): Command {
  return new Command('ui')
    .description('follow the newest run in a browser, and answer what needs review')
    .addOption(
      new Option('--port <n>', 'port on 127.0.0.1 to listen on').argParser(port).default(0, 'a free one'),
    )
    .option('--no-open', 'only print the URL; the default without a terminal')
    .option('--agents <file>', 'agents.yaml to use instead of the one in this folder')
    .action(async (options: UiCommandOptions) => {
      const { runUi } = await import('./run-ui.js');
      end(await runUi(options));
    });
}

function port(value: string): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number <= 65_535) return number;
  throw new InvalidArgumentError('It must be a port: a whole number up to 65535.');
}
