import type { ChalkInstance } from 'chalk';
import type { CauseVerdict, RunOutcome } from '../model/verdict.js';
import { describeFlake } from '../model/flake.js';
import type { Report } from '../run/report.js';
import { truncate, wrap, wrapPainted } from './truncate.js';
import { formatAgentName } from '../model/built-in.js';
import { atMost, counted, dollars } from '../format.js';
import { formatFile, formatReportTestName, describeRegression, verdictWords } from './wording.js';
import {
  type CauseView,
  formatMark,
  listNextSteps,
  type Row,
  listRows,
  type RunView,
  createView,
} from './view.js';

export interface SummaryOptions {
  readonly paint: ChalkInstance;
  readonly columns: number;
  /** The number of rows of the screen; absent if there is none. */
  readonly rows?: number | undefined;
}

/** The summary has at most and at least this many lines on any screen. */
const MAX_LINES = 40;
const MIN_LINES = 22;

/**
 * Renders the final summary (RP-1), which fits on a screen: the result of each cause and the next steps. Causes that need a person come first and
 * in full; causes that do not fit are only counted.
 */
export function renderSummary(report: Report, options: SummaryOptions): string {
  const view = createView(report);
  const { columns } = options;
  const head = wrapPainted(formatHeadline(view, options.paint), columns - 1);
  const before = ['', ...head.map((line) => line.replaceAll(noBreakSpace, ' '))];
  const after = [
    ...formatTests(report, options),
    ...(report.regression ? wrap(describeRegression(report.regression), columns - 3) : []).map(
      (part) => `  ${part}`,
    ),
    ...formatWarnings(report, options),
    ...listNextSteps(view).map(
      ({ purpose, command }) => `  ${options.paint.dim(purpose.padEnd(7))} ${command}`,
    ),
    '',
  ];
  const causes = formatCauses(view, options, computeMaxLines(options) - before.length - after.length);
  return [...before, ...causes, ...after].join('\n');
}

function computeMaxLines({ rows }: SummaryOptions): number {
  return Math.min(MAX_LINES, Math.max(MIN_LINES, (rows || MAX_LINES + 1) - 1));
}

/** A space at which no line is broken. */
const noBreakSpace = '\u00a0';

function formatHeadline({ report, tallies }: RunView, paint: ChalkInstance): string {
  const colors: Record<string, ChalkInstance> = {
    healed: paint.green,
    'healed (quick proof)': paint.green,
    failed: paint.red,
    flaky: paint.magenta,
    quarantined: paint.magenta,
    'green once, not proven': paint.magenta,
    'shards missing': paint.magenta,
  };
  const parts = tallies.map(({ name, text }) => colors[name]?.(text) ?? text);
  if (report.outcome === 'green' && report.exitCode)
    parts.unshift(`exit code ${report.exitCode} because of a --fail-on flag`);
  const figures = parts.map((part) => part.replaceAll(' ', noBreakSpace)).join(' · ');
  return `${paint.bold('self-heal')}  ${formatOutcome(report.outcome, paint)}  ${figures}`;
}

function formatOutcome(outcome: RunOutcome, paint: ChalkInstance): string {
  if (outcome === 'green') return paint.green.bold('GREEN');
  const word = outcome.toUpperCase();
  return outcome === 'red' ? paint.red.bold(word) : paint.magenta.bold(word);
}

/** Reserves up to two thirds of the room for one-line causes, so that one long description does not hide the others. */
function formatCauses({ report, causes }: RunView, options: SummaryOptions, room: number): string[] {
  const reserved = Math.min(causes.length, Math.floor((room * 2) / 3));
  const fullCauses: string[][] = [];
  let usedLines = 0;
  for (const cause of causes) {
    const lines = formatCauseInFull(cause, options);
    // The only cause is shown in full even if it has to be scrolled.
    const isFirst = fullCauses.length === 0 && (causes.length === 1 || lines.length < room);
    if (!isFirst && usedLines + lines.length + Math.max(0, reserved - fullCauses.length - 1) > room) break;
    fullCauses.push(lines);
    usedLines += lines.length;
  }
  const others = causes.slice(fullCauses.length);
  const allFit = others.length <= room - usedLines;
  const shortCauses = allFit ? others : others.slice(0, Math.max(0, room - usedLines - 1));
  const hidden = others.slice(shortCauses.length);
  return [
    ...fullCauses.flat(),
    ...shortCauses.map((cause) => formatCauseInShort(cause, options)),
    ...(hidden.length > 0 ? [formatHidden(hidden, report, options)] : []),
  ];
}

function formatHidden(hidden: readonly CauseView[], { runId }: Report, { columns }: SummaryOptions): string {
  const words = [...new Set(hidden.map(({ cause }) => cause.verdict))].map(
    (verdict) =>
      `${hidden.filter(({ cause }) => cause.verdict === verdict).length} ${verdictWords[verdict].word}`,
  );
  const command = `npx self-heal inspect ${runId}`;
  const text = `… and ${hidden.length} more (${words.join(', ')})`;
  return `  ${truncate(text, columns - command.length - 5)}: ${command}`;
}

/** Returns how many flaky tests, quarantined tests and warnings are listed; further ones are only counted. */
function countListedItems(options: SummaryOptions): number {
  return computeMaxLines(options) < MAX_LINES ? 1 : 3;
}

/** Lists flaky and quarantined tests; the latter appear every time, so that nobody forgets them (ME-7). */
function formatTests({ tests, flakes = [] }: Report, options: SummaryOptions): string[] {
  const { paint, columns } = options;
  const most = countListedItems(options);
  const formatList = (verdict: string, label: string) => {
    const lines = tests
      .filter((test) => test.verdict === verdict)
      .map((test) => {
        const [name = '', ...rest] = wrap(formatReportTestName(test), columns - label.length - 7);
        const flake = verdict === 'flaky' && flakes.find((flake) => flake.test.id === test.id);
        const flakeLines = flake
          ? wrap(describeFlake(flake), columns - 7).map((part) => `      ${part}`)
          : [];
        return [
          `  ${paint.magenta('~')} ${label}: ${name}`,
          ...rest.map((part) => `      ${part}`),
          ...flakeLines,
        ];
      });
    return atMost(lines, most, (hidden) => [`  … and ${hidden} more ${verdict}`]).flat();
  };
  return [
    ...formatList('flaky', flakes.length > 0 ? 'flaky' : 'flaky, no agent'),
    ...formatList('quarantined', 'quarantined, still red'),
  ];
}

function formatWarnings({ warnings }: Report, options: SummaryOptions): string[] {
  const { paint, columns } = options;
  const lines = warnings.map((warning) =>
    wrap(warning, columns - 5).map((part, index) => `  ${index === 0 ? paint.magenta('!') : ' '} ${part}`),
  );
  const describeHidden = (hidden: number) => [`  … and ${counted(hidden, 'more warning')} in report.json`];
  return atMost(lines, countListedItems(options), describeHidden).flat();
}

/** Rows that the summary on a screen leaves out. */
const hiddenRows = new Set(['source']);

/** Formats one cause in full: class, reason, tests, agents, proof, files, cost and next step. */
function formatCauseInFull(view: CauseView, options: SummaryOptions): string[] {
  const { cause, words } = view;
  const [first = '', ...others] = wrap(formatHead(view, cause.headline), options.columns - 5);
  const rows = listRows(view, { attempts: 3, findings: 2 }).filter(({ label }) => !hiddenRows.has(label));
  return [
    markVerdict(first, cause.verdict, { words, paint: options.paint }),
    ...others.map((part) => `    ${part}`),
    ...rows.flatMap((row) => formatRow(row, options)),
  ];
}

/** Cuts the middle of a long list of files, never cuts a command, and wraps titles and sentences. */
function formatRow({ label, text }: Row, { paint, columns }: SummaryOptions): string[] {
  const parts =
    label === 'next'
      ? [text]
      : label === 'files'
        ? [truncate(text, columns - 15, { from: 'middle' })]
        : wrap(text, columns - 15);
  return parts.map((part, index) => `      ${paint.dim((index === 0 ? label : '').padEnd(7))} ${part}`);
}

function formatCauseInShort(view: CauseView, { paint, columns }: SummaryOptions): string {
  const { cause, words, isDone, files } = view;
  const last = cause.attempts.at(-1);
  const parts = [
    last?.agent ? (last.slashCommand ?? formatAgentName(last.agent)) : cause.reason,
    cause.costUsd ? dollars(cause.costUsd) : '',
    files.map(formatFile).join(', '),
  ];
  const head = formatHead(view, isDone ? parts.filter(Boolean).join(', ') : cause.headline);
  return markVerdict(truncate(head, columns - 5), cause.verdict, { words, paint });
}

function formatHead({ cause, words }: CauseView, text: string): string {
  return `${cause.id} ${words.word} · ${cause.category} · ${text}`;
}

function markVerdict(
  head: string,
  verdict: CauseVerdict,
  { words: { word }, paint }: Pick<CauseView, 'words'> & Pick<SummaryOptions, 'paint'>,
): string {
  return `  ${formatMark(verdict, paint)} ${head.replace(word, paint.bold(word))}`;
}
