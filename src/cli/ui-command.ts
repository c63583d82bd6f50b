import { Command, Option } from 'commander';
import { endWith } from './end.js';
import { agentsFlag, storeFlag, wholeNumber } from './options.js';

/** `self-heal ui`: shows the newest run live in a browser, with the escalations to answer (RP-5). */
export function uiCommand(): Command {
  return new Command('ui')
    .description('follow the newest run in a browser, and answer what needs review')
    .addOption(
      new Option('--port <n>', 'port on 127.0.0.1 to listen on')
        .argParser(wholeNumber(0, 65_535))
        .default(0, 'a free one'),
    )
    .option('--no-open', 'only print the URL; the default without a terminal')
    .option(...agentsFlag)
    .option(...storeFlag)
    .action(endWith(async () => (await import('./run-ui.js')).runUi));
}
