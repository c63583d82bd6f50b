import { Command, Option } from 'commander';
import { closest } from '../config/closest.js';
import { choiceText, QUARANTINE_DAYS } from '../core/escalation.js';
import type { Problem } from '../problem.js';
import { end, endWith } from './end.js';
import { agentsFlag, storeFlag, wholeNumber } from './options.js';
import type { EscalationsOptions } from './run-escalations.js';

/** `self-heal escalations`: lists and answers the questions that only a person can answer, and the quarantines that follow (ME-5 to ME-7). */
export function escalationsCommand(): Command {
  const command = new Command('escalations').description('list, show and resolve what needs review');
  common(command.command('list', { isDefault: true }))
    .description('list open escalations')
    .option('--all', 'include resolved escalations')
    .argument('[word]')
    .usage('[options]')
    .action(async (word: string | undefined, options: EscalationsOptions & { all?: boolean }) =>
      end(word === undefined ? await (await load()).listEscalations(options) : noSuchCommand(word)),
    );
  common(command.command('show'))
    .description('show an escalation: the problem, what was tried, the recommendation, the choices')
    .argument('<id>')
    .action(endWith(async () => (await load()).showEscalation));
  common(command.command('resolve'))
    .description('answer an escalation; prompts on a terminal unless --choice is given')
    .argument('<id>')
    .addOption(new Option('--choice <choice>', 'the answer').choices(Object.keys(choiceText)))
    .option('--guidance <text>', 'what to tell the next agent')
    .option(
      '--days <n>',
      `with skip: how many days the quarantine lasts (default: ${QUARANTINE_DAYS})`,
      wholeNumber(1, 9999),
    )
    .action(endWith(async () => (await load()).resolveNamed));
  common(command.command('quarantine'))
    .description(
      'list quarantined tests, which are reported but do not fail the run; --release ends a quarantine',
    )
    .argument('[test]', 'part of a test name, or the id of the escalation that quarantined it')
    .option('--release', 'end the quarantine: the test can fail the run again, and agents may fix it')
    .option('--all', 'with --release: release all that match')
    .action(endWith(async () => (await load()).quarantined));
  return command;
}

/** `list` is the default command, so it receives any word that is not a command. */
function noSuchCommand(word: string): Problem {
  const near = closest(word, ['list', 'show', 'resolve', 'quarantine']);
  return {
    kind: 'usage',
    message: `unknown command escalations ${word}${near === null ? '' : `. Did you mean ${near}?`}`,
    remedy: 'self-heal escalations --help lists the commands.',
  };
}

function common(command: Command): Command {
  return command
    .option(...agentsFlag)
    .option(...storeFlag)
    .option('--json', 'print JSON');
}

function load() {
  return import('./run-escalations.js');
}
