import { isKept } from '../model/attempt.js';
import { type Offer, offerLine } from '../model/escalation.js';
import { fenceFor, middleCut } from '../fenced.js';
import { visibleText } from '../visible-text.js';
import type { Report } from '../run/report.js';
import { atMost, counted } from '../format.js';
import { type CauseView, type Row, rowsOf, type RunView, viewOf } from './view.js';

/**
 * The maximum size of a summary in bytes. GitHub rejects a step's summary above 1 MiB as a whole
 * (https://docs.github.com/actions/reference/workflow-commands-for-github-actions#adding-a-job-summary), and the step may write its own
 * text to it.
 */
export const summaryBytes = 900 * 1024;

export interface MarkdownOptions {
  /** The run's folder as shown to the user. */
  readonly folder: string;
  /** The maximum size in bytes, whatever the report contains. */
  readonly maxBytes?: number;
  /** The text of a patch of the run, for a person to choose; null if it is not there. */
  readonly patchText?: (patch: string | null) => string | null;
  /** Stands before the causes, in place of what each fix changed. */
  readonly fix?: string;
}

/** The maximum number of list items shown; the rest is counted. */
const ITEMS = 20;

/** Renders the run as Markdown: what is left to do first, only complete causes, and a line that says how many did not fit. */
export function markdownOf(
  report: Report,
  { folder, maxBytes = summaryBytes, patchText = () => null, fix }: MarkdownOptions,
): string {
  const view = viewOf(report);
  const before = `${head(view)}${fix ?? ''}`;
  const after = tail(view, folder);
  const sections: string[] = [];
  let room = maxBytes - Buffer.byteLength(before) - Buffer.byteLength(after) - cutLineBytes;
  for (const causeView of view.causes) {
    const offers = causeView.offers.map((offer) => offerSection(offer, patchText(offer.patch)));
    const kept = fix === undefined ? causeView.cause.attempts.filter(isKept) : [];
    const fixes = kept.map(({ patch }) => cutSection(patchText(patch)));
    const section = `${causeSection(causeView, folder)}${fixes.join('')}${offers.join('')}`;
    room -= Buffer.byteLength(section);
    if (room < 0) break;
    sections.push(section);
  }
  const hidden = view.causes.length - sections.length;
  const cut = hidden > 0 ? `\n**${counted(hidden, 'more cause')}** did not fit here; see report.json.\n` : '';
  return cutToBytes(`${before}${sections.join('')}${cut}${after}`, maxBytes);
}

const cutLineBytes = 100;

function head({ report, tallies }: RunView): string {
  const { outcome, exitCode, dryRun, causes } = report;
  const causeCount = causes.length > 0 ? `\n${counted(causes.length, 'root cause')}.\n` : '';
  const dry = dryRun ? ' (dry run: no agent was started)' : '';
  const figures = tallies.map(({ text }) => text).join(' · ');
  return `## self-heal: ${outcome}, exit code ${exitCode}${dry}\n\n${figures}\n${causeCount}`;
}

function causeSection(view: CauseView, folder: string): string {
  const { cause, words } = view;
  const rows = [
    // The patches that are offered follow with their texts.
    ...rowsOf(view, { attempts: ITEMS, findings: 5 }).filter(({ label }) => label !== 'patch'),
    { label: 'evidence', text: `${folder}/${cause.evidence}/`, isCode: true },
  ];
  const title = `${words.emoji} ${cause.id} ${words.word} · ${cause.category}`;
  return `\n### ${title}\n\n${code(cause.headline)}\n\n${rows.map(rowItem).join('')}`;
}

/** The maximum length of a patch that is shown, in characters. */
const PATCH = 4000;

/** Shows a patch that waits for a person, with its proof. */
function offerSection(offer: Offer, text: string | null): string {
  return `\nPatch ${prose(offerLine(offer))}\n${cutSection(text)}`;
}

function cutSection(text: string | null): string {
  return text === null ? '' : fixSection('Diff', closingNothing(middleCut(visibleText(text), PATCH)));
}

/** Shows a patch as it is. */
export function fixSection(title: string, patch: string): string {
  const fence = fenceFor(patch);
  return `\n<details><summary>${title}</summary>\n\n${fence}diff\n${patch}\n${fence}\n\n</details>\n`;
}

function rowItem({ label, text, isCode = false }: Row): string {
  const content = isCode ? code(text, 1000) : prose(text);
  return label === '' ? `  - ${content}\n` : `- ${label}: ${content}\n`;
}

function tail({ report, remarks }: RunView, folder: string): string {
  const { escalations, runId } = report;
  const questions = escalations.map(({ id, causeId, question, stored }) => {
    const answer = stored ? ` (${code(`npx self-heal escalations resolve ${id}`)})` : '';
    return `${causeId}: ${prose(question)}${answer}`;
  });
  return [
    section('Needs review', questions),
    ...remarks.map(({ title, items }) => section(title, items.map(prose))),
    `\nRun ${prose(runId)}: ${code(`${folder}/`)}\n`,
  ].join('');
}

function section(title: string, items: readonly string[]): string {
  if (items.length === 0) return '';
  const listed = atMost(items, ITEMS, (hidden) => `… and ${hidden} more`);
  return `\n### ${title}\n\n${listed.map((item) => `- ${item}\n`).join('')}`;
}

/**
 * Escapes a text so that Markdown shows it unchanged, on one line, at most 500 characters: it contains no markup, mentions nobody, refers to nothing and
 * links nowhere.
 */
export function prose(text: string): string {
  const escaped = oneLine(text, 500).replaceAll(/[\\`*_{}[\]<>#|~$!&^%]/g, String.raw`\$&`);
  // Forges search the rendered text for references, so escaping does not help, but an empty comment does.
  return closingNothing(escaped).replaceAll(reference, '$&<!-- -->').replaceAll(ticket, '$&<!-- -->');
}

/** Where a reference or a link begins, behind which GitHub and GitLab look for the rest. */
const reference =
  /@(?=[\w-])|\$(?=\d+(?![\d.]))|[#!&~%^](?=["\w])|\bGH-(?=\d)|\b(?:https?|ftp|mailto|xmpp):(?=\S)|\bwww(?=\.)/gi;

/** The key of another tracker, such as Jira's. */
const ticket = /\b[A-Z][A-Z\d_]+-(?=\d)/g;

/** Keywords with which GitHub and GitLab close an issue; GitLab finds them in code, too. */
const closing =
  /\b((?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?)(?:\\?:)?) +(?=(?:issues? +)?(?:[\w./\\-]*\\?[#!]\d|GH-\d|https?:|[A-Z][A-Z\d_]+-\d))/gi;

/** Returns a text that closes no issue, and looks the same: forges want a plain blank behind the keyword. */
function closingNothing(text: string): string {
  return text.replaceAll(closing, '$1\u00a0');
}

/** Formats a text as a code span, on one line, at most `width` characters; `none` if it is empty. */
export function code(text: string, width = 300): string {
  const line = closingNothing(oneLine(text, width));
  if (line === '') return 'none';
  const runs = line.match(/`+/g) ?? [];
  const fence = '`'.repeat(Math.max(0, ...runs.map((run) => run.length)) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${line}${pad}${fence}`;
}

/** Cuts a text at a line break, so that it takes at most `most` bytes. */
function cutToBytes(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text;
  const cut = Buffer.from(text).subarray(0, Math.max(0, most));
  const end = cut.lastIndexOf('\n');
  return cut.subarray(0, end + 1).toString();
}

function oneLine(text: string, width: number): string {
  // oxlint-disable-next-line no-control-regex -- control characters cannot be shown
  const line = text.replaceAll(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
  // A character takes at most two code units, so this is enough to tell whether there are more than `width`.
  const characters = line.length > width ? Array.from(line.slice(0, 2 * width + 1)) : [];
  return characters.length > width ? `${characters.slice(0, width - 1).join('')}…` : line;
}
