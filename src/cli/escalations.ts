import { type Command, Option } from 'commander';
import { findClosest } from '../config/closest.js';
import { choices } from '../model/choice.js';
import { QUARANTINE_DAYS } from '../model/escalation.js';
import type { Problem } from '../problem.js';
import { endWrapped, endWith, print } from './end.js';
import { printText } from './print-text.js';
import { agentsFlag, storeFlag, createWholeNumberParser } from './options.js';
import { counted, localDay } from '../format.js';
import { matchIds } from '../run/find-run.js';
import { closeSettledQuestions } from '../run/settled-questions.js';
import type { Quarantine } from '../store/store.js';
import { formatListEntry, formatEscalation } from '../outputs/escalation-text.js';
import { withStore } from '../store/with-store.js';
import { findEscalation, type EscalationFlags, readPatchTexts } from '../clients/answer-escalation.js';
import { proveChosen, resolveEscalation, type ResolveOptions } from './resolve-escalation.js';

/** `self-heal escalations`: lists and answers the questions that only a person can answer, and the quarantines that follow (ME-5 to ME-7). */
export function define(command: Command): Command {
  addCommonFlags(command.command('list', { isDefault: true }))
    .description('list open escalations')
    .option('--all', 'include answered and closed ones')
    .argument('[word]')
    .usage('[options]')
    .action(async (word: string | undefined, options: EscalationFlags & { all?: boolean }) =>
      endWrapped(word === undefined ? await listEscalations(options) : createNoSuchCommandProblem(word)),
    );
  addCommonFlags(command.command('show'))
    .description('show an escalation: the problem, the attempts, the ready patches, the choices')
    .argument('<id>')
    .action(endWith(showEscalation));
  addCommonFlags(command.command('resolve'))
    .description('answer an escalation; prompts on a terminal unless --choice is given')
    .argument('<id>')
    .addOption(
      new Option(
        '--choice <choice>',
        'the answer; tests, app and whole apply a ready patch and prove it again',
      ).choices(choices),
    )
    .option('--guidance <text>', 'what to tell the next agent')
    .addOption(
      new Option('--allow <what>', 'with guide: the agent may change the tests of this failure').choices([
        'tests',
      ]),
    )
    .option(
      '--days <n>',
      `with skip: how many days the quarantine lasts (default: ${QUARANTINE_DAYS})`,
      createWholeNumberParser(1, 9999),
    )
    .action(endWith(resolveNamed));
  addCommonFlags(command.command('quarantine'))
    .description('list quarantined tests, whose failures do not fail the run; --release ends a quarantine')
    .argument('[test]', 'part of a test name, or the id of the escalation that quarantined it')
    .option('--release', 'end the quarantine: the test can fail the run again, and agents may fix it')
    .option('--all', 'with --release: release all that match')
    .action(endWith(runQuarantine));
  return command;
}

/** `list` is the default command, so it receives any word that is not a command. */
function createNoSuchCommandProblem(word: string): Problem {
  const near = findClosest(word, ['list', 'show', 'resolve', 'quarantine']);
  return {
    kind: 'usage',
    message: `unknown command escalations ${word}${near === null ? '' : `. Did you mean ${near}?`}`,
    remedy: 'self-heal escalations --help lists the commands.',
  };
}

function addCommonFlags(command: Command): Command {
  return command
    .option(...agentsFlag)
    .option(...storeFlag)
    .option('--json', 'print JSON');
}

/** Runs `self-heal escalations list`; returns the exit code, or the problem with the store. */
export function listEscalations(options: EscalationFlags & { all?: boolean }): Promise<number | Problem> {
  return withStore(options, async (store) => {
    if (store) await closeSettledQuestions(store, process.cwd());
    const escalations = (await store?.listEscalations(options.all ? null : 'pending')) ?? [];
    if (options.json) return print({ schemaVersion: 1, escalations });
    return printText(
      escalations.length === 0 ? 'Nothing needs review.' : escalations.map(formatListEntry).join('\n'),
    );
  });
}

/** Runs `self-heal escalations show`. */
export function showEscalation(id: string, options: EscalationFlags): Promise<number | Problem> {
  return withStore(options, async (store) => {
    if (store) await closeSettledQuestions(store, process.cwd());
    const escalation = await findEscalation(store, id);
    if (!escalation.ok) return escalation.error;
    if (options.json) return print({ schemaVersion: 1, ...escalation.value });
    return printText(formatEscalation(await readPatchTexts(escalation.value)));
  });
}

/** Runs `self-heal escalations resolve`. */
export async function resolveNamed(id: string, options: ResolveOptions): Promise<number | Problem> {
  const answered = await withStore(options, async (store) => {
    const escalation = await findEscalation(store, id);
    if (!escalation.ok) return escalation.error;
    return store === null ? 0 : resolveEscalation(store, escalation.value, options);
  });
  if (typeof answered === 'number' || 'kind' in answered) return answered;
  const proven = await proveChosen(answered);
  return proven ?? (options.json ? print({ schemaVersion: 1, ...answered.escalation }) : 0);
}

/** Runs `self-heal escalations quarantine`: lists quarantined tests or releases them (ME-7). */
function runQuarantine(
  word: string | undefined,
  { release = false, all = false, json, ...flags }: EscalationFlags & { release?: boolean; all?: boolean },
): Promise<number | Problem> {
  return withStore(flags, async (store) => {
    const quarantines = findQuarantines(word, (await store?.listQuarantines()) ?? []);
    if (!release) {
      if (json) return print({ schemaVersion: 1, quarantines });
      return printText(
        quarantines.length === 0
          ? 'No test is quarantined.'
          : [...quarantines.map(formatQuarantine), formatReleaseCommand(quarantines)].join('\n'),
      );
    }
    if (quarantines.length === 0) return createNoMatchProblem(word);
    if (quarantines.length > 1 && !all) return createSeveralMatchesProblem(quarantines);
    await store?.releaseTests(quarantines.map(({ testId }) => testId));
    if (json) return print({ schemaVersion: 1, released: quarantines });
    const names = quarantines.map(({ name }) => `  ${name}`).join('\n');
    return printText(`${counted(quarantines.length, 'test')} released:\n${names}`);
  });
}

function findQuarantines(word: string | undefined, all: readonly Quarantine[]): readonly Quarantine[] {
  if (word === undefined) return all;
  const byEscalation = matchIds(word, [...new Set(all.map(({ escalationId }) => escalationId))]);
  if (byEscalation.length === 1) return all.filter(({ escalationId }) => byEscalation.includes(escalationId));
  return all.filter(({ name }) => name.toLowerCase().includes(word.toLowerCase()));
}

function formatQuarantine({ name, escalationId, since, until }: Quarantine): string {
  return `${escalationId}  since ${localDay(since)}, until ${localDay(until)}  ${name}`;
}

function formatReleaseCommand([first, ...others]: readonly Quarantine[]): string {
  const all = others.length > 0 ? ' --all' : '';
  return `→ self-heal escalations quarantine ${first?.escalationId ?? ''} --release${all}`;
}

function createNoMatchProblem(word: string | undefined): Problem {
  return {
    kind: 'usage',
    message: word === undefined ? 'no test is quarantined' : `no quarantined test matches ${word}`,
    remedy: 'self-heal escalations quarantine lists the quarantined tests.',
  };
}

function createSeveralMatchesProblem(quarantines: readonly Quarantine[]): Problem {
  return {
    kind: 'usage',
    message: `this matches ${counted(quarantines.length, 'quarantined test')}`,
    detail: quarantines.map(formatQuarantine).join('\n'),
    remedy: 'Name one of them, or release all of these with --all.',
  };
}
