import { choiceText } from '../model/choice.js';
import { type Escalation, offerLine } from '../model/escalation.js';
import { visibleText } from '../visible-text.js';
import type { EscalationWithPatches, OfferWithText } from '../run/read-patch.js';
import { cut, wrapped } from './cut.js';
import { localTime } from '../format.js';

/** Formats an escalation as two lines of a list. */
export function asEntry({ id, state, createdAt, problem, tests, closedBecause }: Escalation): string {
  const [first] = tests;
  const more = tests.length > 1 ? ` (+${tests.length - 1})` : '';
  const about = first ? `${cut(first.name, 100)}${more}` : 'the suite itself';
  const text = closedBecause === null ? problem : `Closed: ${closedBecause}`;
  return `${id}  ${state.padEnd(8)}  ${localTime(createdAt)}  ${about}\n          ${wrapped(text, Infinity).join('')}`;
}

/**
 * Formats an escalation for the person who decides: no code but that of the patches that are ready, no stack trace (ME-5). Omits the choices if
 * a prompt follows that lists them.
 */
export function asPage(escalation: EscalationWithPatches, isAsked = false): string {
  const { id, state, createdAt, resolvedAt, runId, tests, tried, offers } = escalation;
  const ended = state === 'closed' ? 'closed' : 'answered';
  const answerTime = resolvedAt === null ? '' : `, ${ended} on ${localTime(resolvedAt)}`;
  return [
    `${id} (${state}, asked on ${localTime(createdAt)}${answerTime})`,
    '',
    escalation.problem,
    ...section(
      'Tests',
      tests.length > 0 ? tests.slice(0, 10).map((test) => test.name) : ['the suite itself'],
    ),
    ...section(
      'Tried',
      tried.length > 0 ? tried.map((attempt, index) => `${index + 1}. ${attempt}`) : ['nothing'],
    ),
    ...section('Recommended', [escalation.recommendation]),
    ...(state === 'pending' ? offers.flatMap((offer) => patchLines(runId, offer)) : []),
    ...(escalation.closedBecause === null ? [] : section('Closed', [escalation.closedBecause])),
    ...(state === 'resolved' || state === 'skipped'
      ? answerLines(escalation)
      : choiceLines(escalation, isAsked)),
    ...section('All evidence', [`.self-heal/runs/${runId}/`]),
  ].join('\n');
}

/** The number of lines of a patch that are shown; the rest is in its file. */
const LINES = 60;

function patchLines(runId: string, { text, patch, ...offer }: OfferWithText): string[] {
  const file = `.self-heal/runs/${runId}/${patch}`;
  const lines = visibleText(text ?? '')
    .trimEnd()
    .split('\n')
    .filter((line) => !/^(?:index|diff --git) /.test(line));
  const more = lines.length > LINES ? [`… and ${lines.length - LINES} more lines in ${file}`] : [];
  const content = text === null ? [`${file} is not on this machine`] : [...lines.slice(0, LINES), ...more];
  return section(`Patch ${offerLine(offer)}`, content);
}

function choiceLines({ choices, id }: Escalation, isAsked: boolean): string[] {
  if (isAsked) return [];
  return section('Choices', [
    ...choices.map((choice) => `${choice.padEnd(20)} ${choiceText[choice]}`),
    `→ self-heal escalations resolve ${id} --choice … [--guidance "…" [--allow tests]]`,
  ]);
}

function answerLines({ choice, guidance }: Escalation): string[] {
  const answer = choice === null ? [] : [choiceText[choice]];
  return section('Answer', guidance === null ? answer : [...answer, `“${guidance}”`]);
}

function section(title: string, lines: readonly string[]): string[] {
  return ['', title, ...lines.map((line) => `  ${line}`)];
}
