import { isKept } from '../model/attempt.js';
import { type Offer, describeOffer } from '../model/escalation.js';
import { createFence, cutMiddle } from '../fenced.js';
import { visibleText } from '../visible-text.js';
import type { Report } from '../run/report.js';
import { atMost, counted } from '../format.js';
import { type CauseView, type Row, listRows, type RunView, createView } from './view.js';

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
  /** Returns the text of one of the run's patches; null if its file is missing. */
  readonly patchText?: (patch: string | null) => string | null;
  /** The patch of the whole run, shown before the causes instead of the changes of each fix. */
  readonly fix?: string;
}

/** How many items of a list are shown; the others are only counted. */
const MAX_ITEMS = 20;

/** Renders the run as Markdown: unfinished causes first, each of them whole, and how many did not fit. */
export function renderMarkdown(
  report: Report,
  { folder, maxBytes = summaryBytes, patchText = () => null, fix }: MarkdownOptions,
): string {
  const view = createView(report);
  const before = `${renderHead(view)}${fix ?? ''}`;
  const after = renderTail(view, folder);
  const sections: string[] = [];
  let room = maxBytes - Buffer.byteLength(before) - Buffer.byteLength(after) - OMISSION_BYTES;
  for (const causeView of view.causes) {
    const offers = causeView.offers.map((offer) => renderOffer(offer, patchText(offer.patch)));
    const kept = fix === undefined ? causeView.cause.attempts.filter(isKept) : [];
    const fixes = kept.map(({ patch }) => renderDiff(patchText(patch)));
    const section = `${renderCause(causeView, folder)}${fixes.join('')}${offers.join('')}`;
    room -= Buffer.byteLength(section);
    if (room < 0) break;
    sections.push(section);
  }
  const hidden = view.causes.length - sections.length;
  const omission =
    hidden > 0 ? `\n**${counted(hidden, 'more cause')}** did not fit here; see report.json.\n` : '';
  return cutToBytes(`${before}${sections.join('')}${omission}${after}`, maxBytes);
}

const OMISSION_BYTES = 100;

function renderHead({ report, tallies }: RunView): string {
  const { outcome, exitCode, dryRun, causes } = report;
  const causeCount = causes.length > 0 ? `\n${counted(causes.length, 'root cause')}.\n` : '';
  const dryRunNote = dryRun ? ' (dry run: no agent was started)' : '';
  const figures = tallies.map(({ text }) => text).join(' · ');
  return `## self-heal: ${outcome}, exit code ${exitCode}${dryRunNote}\n\n${figures}\n${causeCount}`;
}

function renderCause(view: CauseView, folder: string): string {
  const { cause, words } = view;
  const rows = [
    // Offered patches follow with their texts.
    ...listRows(view, { attempts: MAX_ITEMS, findings: 5 }).filter(({ label }) => label !== 'patch'),
    { label: 'evidence', text: `${folder}/${cause.evidence}/`, isCode: true },
  ];
  const title = `${words.emoji} ${cause.id} ${words.word} · ${cause.category}`;
  return `\n### ${title}\n\n${renderCode(cause.headline)}\n\n${rows.map(renderRow).join('')}`;
}

/** The maximum length of a patch that is shown, in characters. */
const MAX_PATCH_LENGTH = 4000;

/** Renders a patch that waits for a person, with its proof. */
function renderOffer(offer: Offer, text: string | null): string {
  return `\nPatch ${escapeProse(describeOffer(offer))}\n${renderDiff(text)}`;
}

function renderDiff(text: string | null): string {
  return text === null
    ? ''
    : renderFix('Diff', disarmClosingKeywords(cutMiddle(visibleText(text), MAX_PATCH_LENGTH)));
}

/** Renders a patch unchanged. */
export function renderFix(title: string, patch: string): string {
  const fence = createFence(patch);
  return `\n<details><summary>${title}</summary>\n\n${fence}diff\n${patch}\n${fence}\n\n</details>\n`;
}

function renderRow({ label, text, isCode = false }: Row): string {
  const content = isCode ? renderCode(text, 1000) : escapeProse(text);
  return label === '' ? `  - ${content}\n` : `- ${label}: ${content}\n`;
}

function renderTail({ report, remarks }: RunView, folder: string): string {
  const { escalations, runId } = report;
  const questions = escalations.map(({ id, causeId, question, stored }) => {
    const answer = stored ? ` (${renderCode(`npx self-heal escalations resolve ${id}`)})` : '';
    return `${causeId}: ${escapeProse(question)}${answer}`;
  });
  return [
    renderSection('Needs review', questions),
    ...remarks.map(({ title, items }) => renderSection(title, items.map(escapeProse))),
    `\nRun ${escapeProse(runId)}: ${renderCode(`${folder}/`)}\n`,
  ].join('');
}

function renderSection(title: string, items: readonly string[]): string {
  if (items.length === 0) return '';
  const listed = atMost(items, MAX_ITEMS, (hidden) => `… and ${hidden} more`);
  return `\n### ${title}\n\n${listed.map((item) => `- ${item}\n`).join('')}`;
}

/** Escapes a text, so that Markdown shows it on one line of at most 500 characters, without markup, mentions, references or links. */
export function escapeProse(text: string): string {
  const escaped = toOneLine(text, 500).replaceAll(/[\\`*_{}[\]<>#|~$!&^%]/g, String.raw`\$&`);
  // GitHub and GitLab search the rendered text for references, so escaping does not help, but an empty comment does.
  return disarmClosingKeywords(escaped)
    .replaceAll(reference, '$&<!-- -->')
    .replaceAll(ticketKey, '$&<!-- -->');
}

/** The characters that begin a reference or a link in GitHub and GitLab. */
const reference =
  /@(?=[\w-])|\$(?=\d+(?![\d.]))|[#!&~%^](?=["\w])|\bGH-(?=\d)|\b(?:https?|ftp|mailto|xmpp):(?=\S)|\bwww(?=\.)/gi;

/** The key of an issue in another tracker, such as Jira. */
const ticketKey = /\b[A-Z][A-Z\d_]+-(?=\d)/g;

/** Keywords with which GitHub and GitLab close an issue; GitLab finds them in code, too. */
const closingKeyword =
  /\b((?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?)(?:\\?:)?) +(?=(?:issues? +)?(?:[\w./\\-]*\\?[#!]\d|GH-\d|https?:|[A-Z][A-Z\d_]+-\d))/gi;

/** Puts a no-break space after each closing keyword, which looks the same but closes no issue. */
function disarmClosingKeywords(text: string): string {
  return text.replaceAll(closingKeyword, '$1\u00a0');
}

/** Formats a text as a code span, on one line, at most `maxLength` characters; `none` if it is empty. */
export function renderCode(text: string, maxLength = 300): string {
  const line = disarmClosingKeywords(toOneLine(text, maxLength));
  if (line === '') return 'none';
  const runs = line.match(/`+/g) ?? [];
  const fence = '`'.repeat(Math.max(0, ...runs.map((run) => run.length)) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${line}${pad}${fence}`;
}

/** Cuts a text at a line break to at most `maxBytes` bytes. */
function cutToBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const cut = Buffer.from(text).subarray(0, Math.max(0, maxBytes));
  const end = cut.lastIndexOf('\n');
  return cut.subarray(0, end + 1).toString();
}

function toOneLine(text: string, maxLength: number): string {
  // oxlint-disable-next-line no-control-regex -- control characters cannot be shown
  const line = text.replaceAll(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
  // A character has at most two code units, so this many are enough to see whether the text is longer than `maxLength`.
  const characters = line.length > maxLength ? Array.from(line.slice(0, 2 * maxLength + 1)) : [];
  return characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join('')}…` : line;
}
