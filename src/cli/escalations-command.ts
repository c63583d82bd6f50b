import { Command, InvalidArgumentError, Option } from 'commander';
import { closest } from '../config/closest.js';
import { choiceText, QUARANTINE_DAYS } from '../core/escalation.js';
import { exitCodes, type Problem } from '../problem.js';
import type { Result } from '../result.js';
import { escalationOf } from './answer-escalation.js';
import { asEntry, asPage } from './escalation-text.js';
import { end } from './end.js';
import { withLedger } from './open-ledger.js';
import { resolveEscalation, type ResolveOptions } from './resolve-escalation.js';

interface CommonOptions {
  agents?: string;
  json?: boolean;
}

/** `self-heal escalations`: the questions that only a person can answer (ME-5 to ME-7). */
export function escalationsCommand(): Command {
  const command = new Command('escalations').description(
    'the questions that wait for a person: list, show, resolve',
  );
  common(command.command('list', { isDefault: true }))
    .description('the open ones')
    .option('--all', 'those that are answered too')
    .argument('[word]')
    .usage('[options]')
    .action(async (word: string | undefined, options: CommonOptions & { all?: boolean }) =>
      end(word === undefined ? await list(options) : noSuchCommand(word)),
    );
  common(command.command('show'))
    .description('one of them: what is wrong, what was tried, what is recommended, the choices')
    .argument('<id>')
    .action(async (id: string, options: CommonOptions) => end(await show(id, options)));
  common(command.command('resolve'))
    .description('answer one; asks on a terminal, and takes flags elsewhere')
    .argument('<id>')
    .addOption(new Option('--choice <choice>', 'what to do').choices(Object.keys(choiceText)))
    .option('--guidance <text>', 'what the next agent is told')
    .option('--days <n>', `with skip: days that the quarantine lasts; ${QUARANTINE_DAYS} by default`, days)
    .action(async (id: string, options: CommonOptions & ResolveOptions) =>
      end(
        await withLedger(options, async (ledger) => {
          const asked = await escalationOf(ledger, id);
          return asked.ok && ledger ? resolveEscalation(ledger, asked.value, options) : failed(asked);
        }),
      ),
    );
  return command;
}

/** `list` is what is done without a word, and so hears of every word that is no command. */
function noSuchCommand(word: string): Problem {
  const near = closest(word, ['list', 'show', 'resolve']);
  return {
    kind: 'usage',
    message: `there is no command escalations ${word}${near === null ? '' : `. Did you mean ${near}?`}`,
    remedy: 'self-heal escalations --help lists the commands.',
  };
}

function days(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number of days, from 1 to 9999.');
}

function failed(asked: Result<unknown, Problem>): Problem | number {
  return asked.ok ? exitCodes.green : asked.error;
}

function common(command: Command): Command {
  return command
    .option('--agents <file>', 'agents.yaml to use instead of the one in this folder')
    .option('--json', 'print JSON');
}

function list(options: CommonOptions & { all?: boolean }): Promise<number | Problem> {
  return withLedger(options, async (ledger) => {
    const found = (await ledger?.escalations(options.all ? null : 'pending')) ?? [];
    if (options.json) {
      process.stdout.write(`${JSON.stringify({ schemaVersion: 1, escalations: found }, null, 2)}\n`);
    } else if (found.length === 0) process.stdout.write('Nothing waits for a person.\n');
    else process.stdout.write(`${found.map(asEntry).join('\n')}\n`);
    return 0;
  });
}

function show(id: string, options: CommonOptions): Promise<number | Problem> {
  return withLedger(options, async (ledger) => {
    const found = await escalationOf(ledger, id);
    if (!found.ok) return found.error;
    const page = options.json
      ? JSON.stringify({ schemaVersion: 1, ...found.value }, null, 2)
      : asPage(found.value);
    process.stdout.write(`${page}\n`);
    return 0;
  });
}
