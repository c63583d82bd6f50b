import { Command, Option } from 'commander';
import { choiceText } from '../core/escalation.js';
import type { Problem } from '../problem.js';
import type { Ledger } from '../store/ledger.js';
import { escalationOf, noSuchEscalation } from './answer-escalation.js';
import { asEntry, asPage } from './escalation-text.js';
import { end } from './end.js';
import { openLedger } from './open-ledger.js';
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
    .action(async (options: CommonOptions & { all?: boolean }) => end(await list(options)));
  common(command.command('show'))
    .description('one of them: what is wrong, what was tried, what is recommended, the choices')
    .argument('<id>')
    .action(async (id: string, options: CommonOptions) => end(await show(id, options)));
  common(command.command('resolve'))
    .description('answer one; asks on a terminal, and takes flags elsewhere')
    .argument('<id>')
    .addOption(new Option('--choice <choice>', 'what to do').choices(Object.keys(choiceText)))
    .option('--guidance <text>', 'what the next agent is told')
    .action(async (id: string, options: CommonOptions & ResolveOptions) =>
      end(
        await withLedger(options, async (ledger) =>
          ledger === null ? noSuchEscalation(id) : resolveEscalation(ledger, id, options),
        ),
      ),
    );
  return command;
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

async function withLedger(
  { agents }: CommonOptions,
  use: (ledger: Ledger | null) => Promise<number | Problem>,
): Promise<number | Problem> {
  const opened = await openLedger(agents);
  if (!opened.ok) return opened.error;
  const ledger = opened.value?.ledger ?? null;
  try {
    return await use(ledger);
  } finally {
    await ledger?.close();
  }
}
