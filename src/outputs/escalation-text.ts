import { choiceText } from '../model/choice.js';
import { type Escalation, describeOffer } from '../model/escalation.js';
import { visibleText } from '../visible-text.js';
import type { EscalationWithPatches, OfferWithText } from '../run/read-patch.js';
import { truncate, wrap } from './truncate.js';
import { localTime } from '../format.js';

/** Formats an escalation as two lines of a list. */
export function formatListEntry({ id, state, createdAt, problem, tests, closedBecause }: Escalation): string {
  const [first] = tests;
  const more = tests.length > 1 ? ` (+${tests.length - 1})` : '';
  const subject = first ? `${truncate(first.name, 100)}${more}` : 'the suite itself';
  const text = closedBecause === null ? problem : `Closed: ${closedBecause}`;
  return `${id}  ${state.padEnd(8)}  ${localTime(createdAt)}  ${subject}\n          ${wrap(text, Infinity).join('')}`;
}

/**
 * Formats an escalation for the person who decides, without stack traces, and without code except ready patches (ME-5). Omit the choices if a prompt
 * that lists them follows.
 */
export function formatEscalation(
  escalation: EscalationWithPatches,
  { withChoices = true }: { readonly withChoices?: boolean } = {},
): string {
  const { id, state, createdAt, resolvedAt, runId, tests, tried, offers } = escalation;
  const ending = state === 'closed' ? 'closed' : 'answered';
  const answerTime = resolvedAt === null ? '' : `, ${ending} on ${localTime(resolvedAt)}`;
  return [
    `${id} (${state}, asked on ${localTime(createdAt)}${answerTime})`,
    '',
    escalation.problem,
    ...formatSection(
      'Tests',
      tests.length > 0 ? tests.slice(0, 10).map((test) => test.name) : ['the suite itself'],
    ),
    ...formatSection(
      'Tried',
      tried.length > 0 ? tried.map((attempt, index) => `${index + 1}. ${attempt}`) : ['nothing'],
    ),
    ...formatSection('Recommended', [escalation.recommendation]),
    ...(state === 'pending' ? offers.flatMap((offer) => formatPatch(runId, offer)) : []),
    ...(escalation.closedBecause === null ? [] : formatSection('Closed', [escalation.closedBecause])),
    ...(state === 'resolved' || state === 'skipped'
      ? formatAnswer(escalation)
      : withChoices
        ? formatChoices(escalation)
        : []),
    ...formatSection('All evidence', [`.self-heal/runs/${runId}/`]),
  ].join('\n');
}

/** How many lines of a patch to show; the rest is in its file. */
const MAX_PATCH_LINES = 60;

function formatPatch(runId: string, { text, patch, ...offer }: OfferWithText): string[] {
  const file = `.self-heal/runs/${runId}/${patch}`;
  const lines = visibleText(text ?? '')
    .trimEnd()
    .split('\n')
    .filter((line) => !/^(?:index|diff --git) /.test(line));
  const more =
    lines.length > MAX_PATCH_LINES ? [`… and ${lines.length - MAX_PATCH_LINES} more lines in ${file}`] : [];
  const content =
    text === null ? [`${file} is not on this machine`] : [...lines.slice(0, MAX_PATCH_LINES), ...more];
  return formatSection(`Patch ${describeOffer(offer)}`, content);
}

function formatChoices({ choices, id }: Escalation): string[] {
  return formatSection('Choices', [
    ...choices.map((choice) => `${choice.padEnd(20)} ${choiceText[choice]}`),
    `→ self-heal escalations resolve ${id} --choice … [--guidance "…" [--allow tests]]`,
  ]);
}

function formatAnswer({ choice, guidance }: Escalation): string[] {
  const answer = choice === null ? [] : [choiceText[choice]];
  return formatSection('Answer', guidance === null ? answer : [...answer, `“${guidance}”`]);
}

function formatSection(title: string, lines: readonly string[]): string[] {
  return ['', title, ...lines.map((line) => `  ${line}`)];
}
