import { Command, Option } from 'commander';
import { choiceText } from '../core/escalation.js';
import { end } from './end.js';
import type { ResolveOptions } from './resolve-escalation.js';
import type { EscalationsOptions } from './run-escalations.js';

/** `self-heal escalations`: the questions that only a person can answer (ME-5 to ME-7). */
export function escalationsCommand(): Command {
  const command = new Command('escalations').description(
    'the questions that wait for a person: list, show, resolve',
  );
  common(command.command('list', { isDefault: true }))
    .description('the open ones')
    .option('--all', 'those that are answered too')
    .action(async (options: EscalationsOptions & { all?: boolean }) =>
      end(await (await load()).listEscalations(options)),
    );
  common(command.command('show'))
    .description('one of them: what is wrong, what was tried, what is recommended, the choices')
    .argument('<id>')
    .action(async (id: string, options: EscalationsOptions) =>
      end(await (await load()).showEscalation(id, options)),
    );
  common(command.command('resolve'))
    .description('answer one; asks on a terminal, and takes flags elsewhere')
    .argument('<id>')
    .addOption(new Option('--choice <choice>', 'what to do').choices(Object.keys(choiceText)))
    .option('--guidance <text>', 'what the next agent is told')
    .action(async (id: string, options: EscalationsOptions & ResolveOptions) =>
      end(await (await load()).resolveNamed(id, options)),
    );
  return command;
}

function common(command: Command): Command {
  return command
    .option('--agents <file>', 'agents.yaml to use instead of the one in this folder')
    .option('--json', 'print JSON');
}

function load() {
  return import('./run-escalations.js');
}
