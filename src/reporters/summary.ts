import type { ChalkInstance } from 'chalk';
import { renderProof } from '../core/proof.js';
import { violationLine } from '../core/guard/violation.js';
import type { CauseVerdict, Outcome } from '../core/verdict.js';
import { avoidedLine } from './avoided-line.js';
import { clipped, counted, dollars, duration } from './format.js';
import type { Report, ReportAttempt, ReportCause, ReportTest } from './report.js';

/** How a summary is set. */
export interface SummaryOptions {
  readonly paint: ChalkInstance;
  readonly columns: number;
  /** The run's folder as a person types it. */
  readonly folder: string;
  /** More causes than this are counted, not shown, so that the summary fits a screen. */
  readonly causes?: number;
}

/** The last screen: each cause with its class, why, agent, attempts, files, cost, and what is left to do (RP-1). */
export function summaryOf(report: Report, options: SummaryOptions): string {
  const { paint, folder, columns, causes: most = 8 } = options;
  const shown = report.causes.slice(0, most);
  const hidden = report.causes.length - shown.length;
  const lines = [
    '',
    headline(report, paint),
    ...shown.flatMap((cause) => causeLines(report, cause, options)),
    ...(hidden > 0 ? [`  … and ${counted(hidden, 'more cause')}: ${folder}/report.json`] : []),
    ...flakyLines(report, options),
    ...ringLines(report),
    ...quarantineLines(report, options),
    ...avoidedLines(report, options),
    ...report.warnings.map((warning) => `  ${paint.yellow('!')} ${clipped(warning, columns - 4)}`),
    ...nextSteps(report, options),
    '',
  ];
  return lines.join('\n');
}

function headline({ outcome, totals, dryRun, tests }: Report, paint: ChalkInstance): string {
  const quarantined = tests.filter((test) => test.verdict === 'quarantined').length;
  const parts = [
    counted(totals.passed, 'passed', 'passed'),
    ...(totals.healed > 0 ? [paint.green(`${totals.healed} healed`)] : []),
    ...(totals.flaky > 0 ? [paint.yellow(`${totals.flaky} flaky`)] : []),
    ...(totals.failed > 0 ? [paint.red(`${totals.failed} failed`)] : []),
    ...(quarantined > 0 ? [paint.yellow(`${quarantined} quarantined`)] : []),
    ...(totals.notRun > 0 ? [`${totals.notRun} not run`] : []),
    ...(dryRun || totals.agentRuns === 0 ? [] : [counted(totals.agentRuns, 'agent run')]),
    ...(totals.agentRunsAvoided > 0 ? [`${totals.agentRunsAvoided} avoided`] : []),
    ...(totals.costUsd === null ? [] : [dollars(totals.costUsd)]),
    duration(totals.durationMs),
  ];
  return `${paint.bold('self-heal')}  ${outcomeWord(outcome, paint)}  ${parts.join(' · ')}`;
}

function outcomeWord(outcome: Outcome, paint: ChalkInstance): string {
  if (outcome === 'green') return paint.green.bold('GREEN');
  const word = outcome.toUpperCase();
  return outcome === 'red' ? paint.red.bold(word) : paint.yellow.bold(word);
}

const marks: Record<CauseVerdict, string> = {
  passed: '✓',
  healed: '✓',
  superseded: '→',
  flaky: '~',
  failed: '✗',
  rejected: '✗',
  escalated: '?',
  quarantined: '~',
  'agent-unusable': '!',
  'not-run': '-',
};

function causeLines(
  report: Report,
  cause: ReportCause,
  { paint, columns, folder }: SummaryOptions,
): string[] {
  const good = cause.verdict === 'healed' || cause.verdict === 'superseded';
  const mark = good ? paint.green(marks[cause.verdict]) : paint.red(marks[cause.verdict]);
  const line = (label: string, text: string) =>
    `      ${paint.dim(label.padEnd(7))} ${clipped(text, columns - 14)}`;
  const why = cause.why[0];
  const files = cause.attempts.filter((one) => !one.takenBack).flatMap((one) => one.files);
  const word = cause.verdict === 'rejected' ? 'rejected (tampering)' : cause.verdict;
  const head = clipped(`${cause.id} ${word} · ${cause.category} · ${cause.headline}`, columns - 4);
  return [
    `  ${mark} ${head.replace(word, paint.bold(word))}`,
    ...(why
      ? [line('why', `${why.source}: ${why.evidence}`)]
      : cause.warning
        ? [line('why', cause.warning)]
        : []),
    line('tests', testsOf(report, cause)),
    ...cause.attempts.flatMap((one) => [
      line(`try ${one.n}`, attemptLine(one)),
      ...violationTexts(one).map((text) => line('', text)),
    ]),
    ...(cause.proof.length > 0 ? [line('proof', renderProof(cause.proof))] : []),
    ...(files.length > 0 ? [line('files', files.map(fileChange).join(', '))] : []),
    ...(good ? [] : [line('end', cause.reason), line('look', `${folder}/${cause.evidence}/`)]),
  ];
}

function testsOf(report: Report, cause: ReportCause): string {
  const tests = report.tests.filter((test) => cause.tests.includes(test.id));
  const [first, ...others] = tests;
  if (!first) return 'the suite itself, before its tests';
  return `${others.length > 0 ? `${tests.length}: ` : ''}${nameOf(first)}${others.length > 0 ? ` (+${others.length})` : ''}`;
}

/** A test for people: `[project] › file:line › titles`. */
export function nameOf({ project, file, line, title }: ReportTest): string {
  return [...(project ? [`[${project}]`] : []), `${file}:${line}`, ...title.slice(1)].join(' › ');
}

function attemptLine(attempt: ReportAttempt): string {
  const { agent, slashCommand, runner, outcome, judged, durationMs, costUsd, takenBack, failedBecause } =
    attempt;
  const who =
    agent === null
      ? 'no agent, the code as it is'
      : `${slashCommand} (${runner}) ${outcome}, ${duration(durationMs)}`;
  const cost = costUsd === null ? '' : `, ${dollars(costUsd)}`;
  const because = failedBecause && judged !== 'green' ? ` (${failedBecause})` : '';
  return `${who}${cost} → ${judged}${takenBack ? ', taken back' : ''}${because}`;
}

/** The first violations with their lines; the rest is counted, since the summary has to fit a screen. */
function violationTexts({ violations = [] }: ReportAttempt): string[] {
  const shown = violations
    .slice(0, 2)
    .flatMap((one) => [
      violationLine(one),
      ...(one.before === null ? [] : [`  - ${one.before}`]),
      ...(one.after === null ? [] : [`  + ${one.after}`]),
    ]);
  return violations.length > 2
    ? [...shown, `and ${counted(violations.length - 2, 'more violation')}`]
    : shown;
}

function fileChange({
  path,
  added,
  removed,
}: {
  path: string;
  added: number | null;
  removed: number | null;
}): string {
  return added === null || removed === null ? `${path} (binary)` : `${path} +${added} −${removed}`;
}

function flakyLines(report: Report, { paint, columns }: SummaryOptions): string[] {
  const flaky = report.tests.filter((test) => test.verdict === 'flaky');
  const lines = flaky
    .slice(0, 5)
    .map((test) => `  ${paint.yellow('~')} flaky, no agent: ${clipped(nameOf(test), columns - 22)}`);
  return flaky.length > 5 ? [...lines, `  … and ${flaky.length - 5} more flaky`] : lines;
}

function ringLines({ ring }: Report): string[] {
  if (!ring) return [];
  const left = ring.leftOut > 0 ? `; there was no time for ${counted(ring.leftOut, 'test')}` : '';
  const broke =
    ring.broke.length === 0
      ? 'nothing broke'
      : `${ring.broke.map(({ causeId }) => causeId).join(', ')} broke others`;
  return [`  ring ${counted(ring.tests, 'test')} run again after healing: ${broke}${left}`];
}

/** Each time, so that nobody forgets them (ME-7). */
function quarantineLines({ tests }: Report, { paint, columns }: SummaryOptions): string[] {
  const names = tests.filter((test) => test.verdict === 'quarantined').map(nameOf);
  const lines = names
    .slice(0, 5)
    .map((name) => `  ${paint.yellow('~')} quarantined, still red: ${clipped(name, columns - 28)}`);
  return names.length > 5 ? [...lines, `  … and ${names.length - 5} more in quarantine`] : lines;
}

function avoidedLines({ totals, dryRun }: Report, { columns }: SummaryOptions): string[] {
  const line = dryRun ? null : avoidedLine(totals.avoided);
  return line === null ? [] : [`  ${clipped(line, columns - 2)}`];
}

function nextSteps(report: Report, { paint, folder }: SummaryOptions): string[] {
  const step = (text: string) => `  ${paint.dim('next')} ${text}`;
  const kept = report.causes.some((cause) =>
    cause.attempts.some((one) => one.files.length > 0 && !one.takenBack),
  );
  return [
    ...(kept ? [step(`review the fix: git diff, or the patches in ${folder}/attempts/`)] : []),
    ...report.escalations.map(({ id, causeId, question, stored }) =>
      step(`decide on ${causeId}${stored ? ` (self-heal escalations resolve ${id})` : ''}: ${question}`),
    ),
    ...(report.causes.length > 0 ? [step(`everything that was seen: ${folder}/`)] : []),
  ];
}
