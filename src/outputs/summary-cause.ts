import { blameLine, placeOfBlame } from '../core/blame.js';
import { offerLine } from '../core/escalation.js';
import { tellProof } from '../core/proof.js';
import { noteLine } from '../core/guard/note.js';
import { cutLine } from '../core/guard/cut.js';
import { violationLine } from '../core/guard/violation.js';
import { attemptText } from './attempt-text.js';
import { cut, wrapped } from './cut.js';
import { suiteItself } from './final-status.js';
import { atMost, counted, dollars, fileText, nameOf } from './format.js';
import { isGood, markOf } from './marks.js';
import { keptFiles, keptNotes, nextStepFor, offersIn } from './next-steps.js';
import type { Report, ReportAttempt, ReportCause } from '../run/report.js';
import type { SummaryOptions } from './summary.js';
import { verdictWords } from './wording.js';

/** Formats one cause in full: class, reason, tests, agents, proof, files, cost, and what is left to do. */
export function causeInFull(report: Report, cause: ReportCause, options: SummaryOptions): string[] {
  const { paint, columns } = options;
  const label = (text: string) => `      ${paint.dim(text.padEnd(7))} `;
  // Names identify, so the middle of a long one can go; sentences are wrapped.
  const names = (what: string, text: string) =>
    `${label(what)}${cut(text, columns - 15, { from: 'middle' })}`;
  const line = (what: string, text: string) =>
    wrapped(text, columns - 15).map((part, index) => `${label(index === 0 ? what : '')}${part}`);
  const [why] = cause.why;
  const files = filesText(cause);
  const next = nextStepFor(report, cause);
  const good = isGood(cause.verdict);
  return [
    ...headOf(cause, cause.headline, options),
    ...(cause.blame ? line('blame', `${placeOfBlame(cause.blame)}: ${blameLine(cause.blame)}`) : []),
    ...(why ? line('why', `${why.source}: ${why.evidence}`) : []),
    ...(!why && cause.warning ? line('why', cause.warning) : []),
    names('tests', testsOf(report, cause)),
    ...(cause.attempts.length === 0 ? line(good ? 'fix' : 'end', cause.reason) : attemptLines(cause, line)),
    ...(cause.proof.length > 0 ? line('proof', tellProof(cause.proof, cause.testProofs)) : []),
    ...(files === '' ? [] : [names('files', files)]),
    ...reviewTexts(cause).flatMap((text, index) => line(index === 0 ? 'review' : '', text)),
    ...(good || cause.attempts.length === 0 ? [] : line('end', cause.reason)),
    ...offersIn(cause).flatMap((offer) => line('patch', offerLine(offer))),
    ...(next ? [`${label(next.what)}${next.command}`] : []),
  ];
}

/** Formats one cause as one line. */
export function causeInShort(cause: ReportCause, options: SummaryOptions): string {
  if (!isGood(cause.verdict)) return cutHead(cause, cause.headline, options);
  const last = cause.attempts.at(-1);
  const parts = [
    ...(last?.agent ? [last.slashCommand ?? last.agent] : [cause.reason]),
    ...(cause.costUsd === null ? [] : [dollars(cause.costUsd)]),
    filesText(cause),
  ];
  return cutHead(cause, parts.filter(Boolean).join(', '), options);
}

function headOf(cause: ReportCause, text: string, { paint, columns }: SummaryOptions): string[] {
  const word = verdictWords[cause.verdict].word;
  const head = wrapped(`${cause.id} ${word} · ${cause.category} · ${text}`, columns - 5);
  return head.map((part, index) =>
    index === 0 ? `  ${markOf(cause.verdict, paint)} ${part.replace(word, paint.bold(word))}` : `    ${part}`,
  );
}

function cutHead(cause: ReportCause, text: string, { paint, columns }: SummaryOptions): string {
  const word = verdictWords[cause.verdict].word;
  const head = cut(`${cause.id} ${word} · ${cause.category} · ${text}`, columns - 5);
  return `  ${markOf(cause.verdict, paint)} ${head.replace(word, paint.bold(word))}`;
}

function testsOf(report: Report, cause: ReportCause): string {
  const tests = report.tests.filter((test) => cause.tests.includes(test.id));
  const [first, ...others] = tests;
  if (!first) return suiteItself;
  return others.length > 0 ? `${tests.length}: ${nameOf(first)} (+${others.length})` : nameOf(first);
}

type Line = (label: string, text: string) => string[];

const ATTEMPTS_SHOWN = 3;

/** Formats the last attempts, and only the number and cost of those before them. */
function attemptLines({ attempts }: ReportCause, line: Line): string[] {
  const before = attempts.slice(0, -ATTEMPTS_SHOWN);
  const spent = before.flatMap(({ costUsd }) => costUsd ?? []);
  const cost = spent.length > 0 ? `, ${dollars(spent.reduce((sum, one) => sum + one))}` : '';
  return [
    ...(before.length > 0 ? line('', `${counted(before.length, 'try', 'tries')} before${cost}`) : []),
    ...attempts
      .slice(-ATTEMPTS_SHOWN)
      .flatMap((one) => [
        ...line(`try ${one.n}`, attemptText(one)),
        ...one.cut.slice(0, 2).flatMap((left) => line('', `left out: ${cutLine(left)}`)),
        ...violationTexts(one).flatMap((text) => line('', text)),
      ]),
  ];
}

/** Formats the first violations with their lines; the rest is counted, because the summary has to fit the screen. */
function violationTexts({ violations }: ReportAttempt): string[] {
  const lines = violations.map((one) => [
    violationLine(one),
    ...(one.before === null ? [] : [`  - ${one.before}`]),
    ...(one.after === null ? [] : [`  + ${one.after}`]),
  ]);
  return atMost(lines, 2, (hidden) => [`and ${counted(hidden, 'more violation')}`]).flat();
}

/** Formats the first notes on the changes that are in the project; the reports have all of them. */
function reviewTexts(cause: ReportCause): string[] {
  return atMost(keptNotes(cause).map(noteLine), 2, (hidden) => `and ${hidden} more in the report`);
}

function filesText(cause: ReportCause): string {
  return keptFiles(cause).map(fileText).join(', ');
}
