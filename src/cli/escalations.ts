import { type Command, Option } from 'commander';
import { findClosest } from '../config/closest.js';
import { choices } from '../model/choice.js';
import { QUARANTINE_DAYS } from '../model/escalation.js';
import type { Problem } from '../problem.js';
import { endCommandWrapped, createAction, print } from './end-command.js';
import { printText } from './print-text.js';
import { agentsFlag, storeFlag, createWholeNumberParser } from './options.js';
import { counted, localDay } from '../format.js';
import { matchIds } from '../run/find-run.js';
import { closeSettledQuestions } from '../run/settled-questions.js';
import type { Quarantine } from '../store/store.js';
import { formatListEntry, formatEscalation } from '../outputs/escalation-text.js';
import { withStore } from '../store/with-store.js';
import { findEscalation, type EscalationFlags, readPatchTexts } from '../clients/answer-escalation.js';
import { proveChosenPatch, resolveEscalation, type ResolveOptions } from './resolve-escalation.js';

/** `self-heal escalations`: lists and answers the questions that only a person can answer, and the quarantines that follow (ME-5 to ME-7). */
export function define(command: Command): Command {
  addCommonFlags(command.command('list', { isDefault: true }))
    .description('list the open escalations')
    .option('--all', 'include answered and closed escalations')
    .argument('[word]')
    .usage('[options]')
    .action(async (word: string | undefined, options: EscalationFlags & { all?: boolean }) =>
      endCommandWrapped(
        word === undefined ? await listEscalations(options) : createNoSuchCommandProblem(word),
      ),
    );
  addCommonFlags(command.command('show'))
    .description('show an escalation: the problem, the attempts, the ready patches, the choices')
    .argument('<id>')
    .action(createAction(showEscalation));
  addCommonFlags(command.command('resolve'))
    .description('answer an escalation; prompts on a terminal unless --choice is given')
    .argument('<id>')
    .addOption(
      new Option(
        '--choice <choice>',
        'your answer; tests, app and whole apply a ready patch and prove it again',
      ).choices(choices),
    )
    .option('--guidance <text>', 'pass this text to the next agent')
    .addOption(
      new Option(
        '--allow <what>',
        'with --choice guide: let the agent change the tests of this failure',
      ).choices(['tests']),
    )
    .option(
      '--days <n>',
      `with --choice skip: quarantine the tests for this many days (default: ${QUARANTINE_DAYS})`,
      createWholeNumberParser(1, 9999),
    )
    .action(createAction(runResolve));
  addCommonFlags(command.command('quarantine'))
    .description('list or release quarantined tests, whose failures do not fail the run')
    .argument('[test]', 'part of a test name, or the id of the escalation that quarantined it')
    .option('--release', 'end the quarantine: the test can fail the run again, and agents may fix it')
    .option('--all', 'with --release: release all tests that match')
    .action(createAction(runQuarantine));
  return command;
}

/** `list` is the default command, so it receives any word that is not a command. */
function createNoSuchCommandProblem(word: string): Problem {
  const closest = findClosest(word, ['list', 'show', 'resolve', 'quarantine']);
  return {
    kind: 'usage',
    message: `unknown command escalations ${word}${closest === null ? '' : `. Did you mean ${closest}?`}`,
    remedy: 'self-heal escalations --help lists the commands.',
  };
}

function addCommonFlags(command: Command): Command {
  return command
    .option(...agentsFlag)
    .option(...storeFlag)
    .option('--json', 'print the result as JSON');
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
export async function runResolve(id: string, options: ResolveOptions): Promise<number | Problem> {
  const answered = await withStore(options, async (store) => {
    const escalation = await findEscalation(store, id);
    if (!escalation.ok) return escalation.error;
    return store === null ? 0 : resolveEscalation(store, escalation.value, options);
  });
  if (typeof answered === 'number' || 'kind' in answered) return answered;
  const exitCode = await proveChosenPatch(answered);
  return exitCode ?? (options.json ? print({ schemaVersion: 1, ...answered.escalation }) : 0);
}

/** Runs `self-heal escalations quarantine`: lists quarantined tests or releases them (ME-7). */
function runQuarantine(
  filter: string | undefined,
  { release = false, all = false, json, ...flags }: EscalationFlags & { release?: boolean; all?: boolean },
): Promise<number | Problem> {
  return withStore(flags, async (store) => {
    const quarantines = findQuarantines(filter, (await store?.listQuarantines()) ?? []);
    if (!release) {
      if (json) return print({ schemaVersion: 1, quarantines });
      return printText(
        quarantines.length === 0
          ? 'No test is quarantined.'
          : [...quarantines.map(formatQuarantine), formatReleaseCommand(quarantines)].join('\n'),
      );
    }
    if (quarantines.length === 0) return createNoMatchProblem(filter);
    if (quarantines.length > 1 && !all) return createSeveralMatchesProblem(quarantines);
    await store?.releaseTests(quarantines.map(({ testId }) => testId));
    if (json) return print({ schemaVersion: 1, released: quarantines });
    const names = quarantines.map(({ name }) => `  ${name}`).join('\n');
    return printText(`${counted(quarantines.length, 'test')} released:\n${names}`);
  });
}

function findQuarantines(filter: string | undefined, all: readonly Quarantine[]): readonly Quarantine[] {
  if (filter === undefined) return all;
  const matchingIds = matchIds(filter, [...new Set(all.map(({ escalationId }) => escalationId))]);
  if (matchingIds.length === 1) return all.filter(({ escalationId }) => matchingIds.includes(escalationId));
  return all.filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase()));
}

function formatQuarantine({ name, escalationId, since, until }: Quarantine): string {
  return `${escalationId}  since ${localDay(since)}, until ${localDay(until)}  ${name}`;
}

function formatReleaseCommand([first, ...others]: readonly Quarantine[]): string {
  const all = others.length > 0 ? ' --all' : '';
  return `→ self-heal escalations quarantine ${first?.escalationId ?? ''} --release${all}`;
}

function createNoMatchProblem(filter: string | undefined): Problem {
  return {
    kind: 'usage',
    message: filter === undefined ? 'no test is quarantined' : `no quarantined test matches ${filter}`,
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
