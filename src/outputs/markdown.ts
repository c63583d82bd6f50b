import { blameLine, placeOfBlame } from '../core/blame.js';
import { type Offer, offerLine } from '../core/escalation.js';
import { fenced, middleCut } from '../core/fenced.js';
import { visibleText } from '../core/visible-text.js';
import { noteLine } from '../core/guard/note.js';
import { cutLine } from '../core/guard/cut.js';
import { violationLine } from '../core/guard/violation.js';
import { tellProof } from '../core/proof.js';
import { isResolved } from '../core/verdict.js';
import { savedLine } from './saved-line.js';
import { attemptText } from './attempt-text.js';
import { atMost, counted, fileText, nameOf } from './format.js';
import { suiteItself } from './final-status.js';
import { keptFiles, offersIn } from './next-steps.js';
import { code, cutToBytes, prose } from './markdown-text.js';
import type { Report, ReportAttempt, ReportCause, ReportTest } from '../run/report.js';
import { remarksOf } from './remarks.js';
import { talliesOf } from './tallies.js';
import { verdictWords } from './wording.js';

/**
 * The maximum size of a summary in bytes. GitHub rejects a step's summary above 1 MiB as a whole
 * (https://docs.github.com/actions/reference/workflow-commands-for-github-actions#adding-a-job-summary), and the step may write its own
 * text to it.
 */
export const summaryBytes = 900 * 1024;

/** How a summary is formatted. */
export interface MarkdownOptions {
  /** The run's folder as shown to the user. */
  readonly folder: string;
  /** The maximum size in bytes, whatever the report contains. */
  readonly maxBytes?: number;
  /** The text of a patch of the run, for a person to choose; null if it is not there. */
  readonly patchText?: (patch: string | null) => string | null;
}

/** The maximum number of list items shown; the rest is counted. */
const ITEMS = 20;

/** Renders the run as Markdown: what is left to do first, only complete causes, and a line that says how many did not fit. */
export function markdownOf(
  report: Report,
  { folder, maxBytes = summaryBytes, patchText = () => null }: MarkdownOptions,
): string {
  const before = head(report);
  const after = tail(report, folder);
  // What a person has to look at comes first, because the end is what gets cut.
  const causes = [
    ...report.causes.filter((cause) => !isResolved(cause.verdict)),
    ...report.causes.filter((cause) => isResolved(cause.verdict)),
  ];
  const byId = new Map(report.tests.map((test) => [test.id, test]));
  const shown: string[] = [];
  let room = maxBytes - Buffer.byteLength(before) - Buffer.byteLength(after) - cutLineBytes;
  for (const cause of causes) {
    const section = causeSection(cause, { byId, folder, patchText });
    room -= Buffer.byteLength(section);
    if (room < 0) break;
    shown.push(section);
  }
  const hidden = causes.length - shown.length;
  const cut = hidden > 0 ? `\n**${counted(hidden, 'more cause')}** did not fit here; see report.json.\n` : '';
  return cutToBytes(`${before}${shown.join('')}${cut}${after}`, maxBytes);
}

const cutLineBytes = 100;

function head(report: Report): string {
  const { outcome, exitCode, totals, dryRun, causes } = report;
  const parts = talliesOf(report).map(({ text }) => text);
  const found = causes.length > 0 ? `\n${counted(causes.length, 'root cause')}.\n` : '';
  const why = dryRun ? null : savedLine(totals.avoided);
  const spared = why === null ? '' : `\n${why}.\n`;
  const dry = dryRun ? ' (dry run: no agent was started)' : '';
  return `## self-heal: ${outcome}, exit code ${exitCode}${dry}\n\n${parts.join(' · ')}\n${found}${spared}`;
}

interface Around extends Required<Pick<MarkdownOptions, 'folder' | 'patchText'>> {
  readonly byId: ReadonlyMap<string, ReportTest>;
}

function causeSection(cause: ReportCause, { byId, folder, patchText }: Around): string {
  const { verdict, category, headline, why, warning, source, attempts, proof, reason } = cause;
  const kept = keptFiles(cause);
  const first = why[0];
  const items = [
    ...(cause.blame ? [`blame: ${prose(blameLine(cause.blame))} (${code(placeOfBlame(cause.blame))})`] : []),
    ...(first
      ? [`why: the ${first.source} says ${code(first.evidence)}`]
      : warning
        ? [`why: ${prose(warning)}`]
        : []),
    ...(source ? [`source: ${code(source)}`] : []),
    `tests: ${testsOf(cause, byId)}`,
    ...atMost(attempts.map(attemptItem), ITEMS, (hidden) => `and ${counted(hidden, 'more attempt')}`),
    ...(proof.length > 0 ? [`proof: ${code(tellProof(proof, cause.testProofs), 1000)}`] : []),
    ...(kept.length > 0
      ? [`files: ${listed(kept.map((file) => fileText({ ...file, path: code(file.path) })))}`]
      : []),
    ...(reason ? [`ended: ${prose(reason)}`] : []),
    `evidence: ${code(`${folder}/${cause.evidence}/`)}`,
  ];
  const { emoji, word } = verdictWords[verdict];
  const title = `${emoji} ${cause.id} ${word} · ${category}`;
  const offers = offersIn(cause).map((one) => offerSection(one, patchText(one.patch)));
  return `\n### ${title}\n\n${code(headline)}\n\n${items.map((item) => `- ${item}\n`).join('')}${offers.join('')}`;
}

/** The maximum length of a patch that is offered, in characters. */
const PATCH = 4000;

/** Shows a patch that waits for a person, with its proof. */
function offerSection(offer: Offer, text: string | null): string {
  const patch = text === null ? '' : `\n${fenced(middleCut(visibleText(text), PATCH))}\n`;
  return `\nPatch ${prose(offerLine(offer))}\n${patch}`;
}

function testsOf({ tests }: ReportCause, byId: ReadonlyMap<string, ReportTest>): string {
  const known = tests.flatMap((id) => byId.get(id) ?? []);
  if (known.length === 0) return suiteItself;
  const names = listed(
    known.map((test) => code(nameOf(test))),
    5,
  );
  return known.length > 1 ? `${known.length}: ${names}` : names;
}

function attemptItem(attempt: ReportAttempt): string {
  const { n, violations, notes } = attempt;
  const found = [
    ...attempt.cut.slice(0, 5).map((one) => prose(`left out: ${cutLine(one)}`)),
    ...atMost(
      violations.map((one) => prose(violationLine(one))),
      5,
      (hidden) => `and ${counted(hidden, 'more violation')}`,
    ),
    ...notes.slice(0, 5).map((one) => prose(`to review: ${noteLine(one)}`)),
  ];
  return [`attempt ${n}: ${attemptText(attempt, { code, prose })}`, ...found].join('\n  - ');
}

function listed(items: readonly string[], most = ITEMS): string {
  const shown = items.slice(0, most).join(', ');
  return items.length > most ? `${shown} and ${items.length - most} more` : shown;
}

function tail(report: Report, folder: string): string {
  const { escalations, runId } = report;
  const questions = escalations.map(({ id, causeId, question, stored }) => {
    const answer = stored ? ` (${code(`npx self-heal escalations resolve ${id}`)})` : '';
    return `${causeId}: ${prose(question)}${answer}`;
  });
  return [
    section('Needs review', questions),
    ...remarksOf(report).map(({ title, items }) => section(title, items.map(prose))),
    `\nRun ${prose(runId)}: ${code(`${folder}/`)}\n`,
  ].join('');
}

function section(title: string, items: readonly string[]): string {
  if (items.length === 0) return '';
  const shown = atMost(items, ITEMS, (hidden) => `… and ${hidden} more`);
  return `\n### ${title}\n\n${shown.map((item) => `- ${item}\n`).join('')}`;
}
