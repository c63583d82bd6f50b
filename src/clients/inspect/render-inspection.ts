import { describeBlameWithPosition } from '../../model/blame.js';
import { formatFacts, formatReason } from '../../model/diagnosis.js';
import { buildTimeline, formatTimeline } from '../../evidence/timeline.js';
import type { ReportAttempt } from '../../run/report.js';
import { truncate } from '../../outputs/truncate.js';
import { formatAttempt } from '../../outputs/view.js';
import { counted } from '../../format.js';
import { formatFailureName, type InspectedFailure } from './find-failure.js';
import type { StoredRun } from '../../run/find-run.js';

const MAX_MESSAGE_LINES = 30;
/** In characters; timeline.md has the whole timeline. */
const MAX_TIMELINE = 6_000;

export function describeNoFailures({ report }: StoredRun): string {
  return report?.exitCode === null ? 'no failure has been recorded so far' : 'nothing failed';
}

/** Renders the failures of a run, one line each. */
export function renderFailures(run: StoredRun, all: readonly InspectedFailure[]): string {
  const { report, runId, unreadable } = run;
  const outcome = report?.exitCode === null ? 'did not finish' : report?.outcome;
  const head = report
    ? `run ${runId} · ${report.project} · ${outcome} · ${counted(report.totals.tests, 'test')}`
    : `run ${runId} · no readable report`;
  const rows = all.map((inspected) => [
    String(inspected.failure.n),
    describeVerdict(inspected),
    inspected.failure.diagnosis.category,
    inspected.cause?.id ?? '',
    `${truncate(formatFailureName(inspected), 110)}${inspected.numbers.length > 1 ? ` (seen ${inspected.numbers.length} times)` : ''}`,
  ]);
  return [
    head,
    ...(rows.length > 0 ? alignColumns(rows) : [`  ${describeNoFailures(run)}`]),
    ...(report?.warnings ?? []).map((warning) => `  ${warning}`),
    ...unreadable.map(
      (file) =>
        `  ${file} cannot be read: it is missing, damaged, or written by another version of self-heal`,
    ),
  ].join('\n');
}

/** Renders one failure with its evidence, diagnosis and attempts. */
export function renderFailure(inspected: InspectedFailure, files: readonly string[]): string {
  const { failure, cause } = inspected;
  const { evidence, diagnosis } = failure;
  const { category, alternatives, retry, why, warning, facts } = diagnosis;
  const happened = formatTimeline(buildTimeline(evidence, { diagnosis }), MAX_TIMELINE);
  const or = alternatives.length > 0 ? ` (or ${alternatives.join(', ')})` : '';
  return [
    `#${failure.n} ${formatFailureName(inspected)}`,
    `  ${describeVerdict(inspected)} · ${category}${or} · ${retry} · ${failure.signature}`,
    ...(cause
      ? [`  ${cause.id} ${cause.verdict}: ${cause.reason}, ${counted(cause.tests.length, 'test')}`]
      : []),
    ...(warning ? [`  ${warning}`] : []),
    ...renderSection('blame', cause?.blame ? [describeBlameWithPosition(cause.blame)] : []),
    ...renderSection('why', why.map(formatReason)),
    ...renderSection('facts', formatFacts(facts)),
    ...renderSection('failed step', evidence.failedStep ? [evidence.failedStep] : []),
    ...renderSection('error', formatMessage(evidence.errors.map(({ message }) => message).join('\n\n'))),
    ...renderSection(
      evidence.otherRun?.run === 'first'
        ? 'different error in the first run'
        : 'different error in the second run',
      formatMessage((evidence.otherRun?.errors ?? []).map(({ message }) => message).join('\n\n')),
    ),
    ...renderSection('what happened, in order', happened === '' ? [] : [happened]),
    ...renderSection('attempts', (cause?.attempts ?? []).map(formatAttemptLine)),
    ...renderSection('missing', evidence.missing),
    ...renderSection('cut', evidence.cut),
    ...renderSection('files', files),
  ].join('\n');
}

function describeVerdict({ test, cause, failure }: InspectedFailure): string {
  if (failure.failure.scope === 'suite') return cause?.verdict ?? 'failed';
  return test?.verdict ?? 'failed';
}

function renderSection(title: string, lines: readonly string[]): string[] {
  const text = lines.flatMap((line) => line.split('\n'));
  return text.length === 0 ? [] : ['', title, ...text.map((line) => `  ${line}`.trimEnd())];
}

function formatMessage(message: string): string[] {
  if (message === '') return [];
  const lines = message.split('\n');
  const more = lines.length - MAX_MESSAGE_LINES;
  return more > 0 ? [...lines.slice(0, MAX_MESSAGE_LINES), `… ${counted(more, 'more line')}`] : lines;
}

function formatAttemptLine(attempt: ReportAttempt): string {
  const files = [attempt.patch, attempt.prompt].filter((file) => file !== null);
  return [`${attempt.n} ${formatAttempt(attempt)}`, ...files.map((file) => `  ${file}`)].join('\n');
}

function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
  );
}
