import type { ChalkInstance } from 'chalk';
import type { Outcome } from '../core/verdict.js';
import { savedLine } from './saved-line.js';
import { cut, wrapped, wrappedPainted } from './cut.js';
import { atMost, counted, nameOf } from './format.js';
import { nextStepsOf } from './next-steps.js';
import type { Report, ReportCause } from '../run/report.js';
import { causeInFull, causeInShort } from './summary-cause.js';
import { talliesOf } from './tallies.js';
import { regressionText, verdictWords } from './wording.js';

/** How a summary is formatted. */
export interface SummaryOptions {
  readonly paint: ChalkInstance;
  readonly columns: number;
  /** The number of rows it has to fit; absent if there is no screen. */
  readonly rows?: number | undefined;
  /** Where the project is in its git repository, if in any, so that `git diff` can show the changes; by default its root. */
  readonly inGit?: 'top' | 'below' | null | undefined;
}

/** The maximum and minimum number of lines, whatever the size of the screen. */
const MOST_LINES = 40;
const FEWEST_LINES = 22;

/**
 * Renders the final summary (RP-1): the result of each cause and what is left to do, in lines that fit the terminal and no more than fit a
 * screen. What a person has to do comes first and in full; what does not fit is counted.
 */
export function summaryOf(report: Report, options: SummaryOptions): string {
  const before = ['', ...wrappedPainted(headline(report, options.paint), options.columns - 1)];
  const after = [
    ...testLines(report, options),
    ...regressionLines(report, options),
    ...savedLines(report, options),
    ...warningLines(report, options),
    ...stepLines(report, options),
    '',
  ];
  const causes = causeLines(report, options, linesFor(options) - before.length - after.length);
  return [...before, ...causes, ...after].join('\n');
}

function linesFor({ rows }: SummaryOptions): number {
  return Math.min(MOST_LINES, Math.max(FEWEST_LINES, (rows || MOST_LINES + 1) - 1));
}

function headline(report: Report, paint: ChalkInstance): string {
  const tones: Record<string, ChalkInstance> = {
    healed: paint.green,
    'healed (quick proof)': paint.green,
    failed: paint.red,
    flaky: paint.magenta,
    quarantined: paint.magenta,
    'green once, not proven': paint.magenta,
    'shards missing': paint.magenta,
  };
  const parts = talliesOf(report).map(({ name, text }) => tones[name]?.(text) ?? text);
  // Green tests with another exit code: `--fail-on-heal` or `--fail-on-flaky-tests`.
  if (report.outcome === 'green' && report.exitCode)
    parts.unshift(`exit code ${report.exitCode} by a --fail-on flag`);
  return `${paint.bold('self-heal')}  ${outcomeWord(report.outcome, paint)}  ${parts.join(' · ')}`;
}

function outcomeWord(outcome: Outcome, paint: ChalkInstance): string {
  if (outcome === 'green') return paint.green.bold('GREEN');
  const word = outcome.toUpperCase();
  return outcome === 'red' ? paint.red.bold(word) : paint.magenta.bold(word);
}

/** Reserves at least two thirds of the room for one-line causes, so that one long description does not hide the others. */
function causeLines(report: Report, options: SummaryOptions, room: number): string[] {
  const rankOf = ({ verdict }: ReportCause) => verdictWords[verdict].rank;
  // Equals stay in the order in which they were found.
  const causes = report.causes.toSorted((a, b) => rankOf(a) - rankOf(b));
  const reserved = Math.min(causes.length, Math.floor((room * 2) / 3));
  const full: string[][] = [];
  let used = 0;
  for (const cause of causes) {
    const lines = causeInFull(report, cause, options);
    const isFirst = full.length === 0 && lines.length < room;
    if (!isFirst && used + lines.length + Math.max(0, reserved - full.length - 1) > room) break;
    full.push(lines);
    used += lines.length;
  }
  const rest = causes.slice(full.length);
  const fits = rest.length <= room - used;
  const short = fits ? rest : rest.slice(0, Math.max(0, room - used - 1));
  const hidden = rest.slice(short.length);
  return [
    ...full.flat(),
    ...short.map((cause) => causeInShort(cause, options)),
    ...(hidden.length > 0 ? [hiddenLine(hidden, report, options)] : []),
  ];
}

function hiddenLine(hidden: readonly ReportCause[], { runId }: Report, { columns }: SummaryOptions): string {
  const words = [...new Set(hidden.map(({ verdict }) => verdict))].map(
    (verdict) => `${hidden.filter((one) => one.verdict === verdict).length} ${verdictWords[verdict].word}`,
  );
  const command = `npx self-heal inspect ${runId}`;
  const text = `… and ${hidden.length} more (${words.join(', ')})`;
  return `  ${cut(text, columns - command.length - 5)}: ${command}`;
}

/** Returns how many flaky tests, quarantined tests and warnings are listed; the rest is counted. */
function listedOf(options: SummaryOptions): number {
  return linesFor(options) < MOST_LINES ? 1 : 3;
}

/** Lists flaky and quarantined tests; the latter appear every time, so that nobody forgets them (ME-7). */
function testLines({ tests }: Report, options: SummaryOptions): string[] {
  const { paint, columns } = options;
  const most = listedOf(options);
  const listed = (verdict: string, what: string) => {
    const names = tests.filter((test) => test.verdict === verdict).map(nameOf);
    const lines = names.map(
      (name) =>
        `  ${paint.magenta('~')} ${what}: ${cut(name, columns - what.length - 7, { from: 'middle' })}`,
    );
    return atMost(lines, most, (hidden) => `  … and ${hidden} more ${verdict}`);
  };
  return [...listed('flaky', 'flaky, no agent'), ...listed('quarantined', 'quarantined, still red')];
}

function regressionLines({ regression }: Report, { columns }: SummaryOptions): string[] {
  return regression ? wrapped(regressionText(regression), columns - 3).map((line) => `  ${line}`) : [];
}

function warningLines({ warnings }: Report, options: SummaryOptions): string[] {
  const { paint, columns } = options;
  const lines = warnings.map((one) =>
    wrapped(one, columns - 5).map((part, index) => `  ${index === 0 ? paint.magenta('!') : ' '} ${part}`),
  );
  const rest = (hidden: number) => [`  … and ${counted(hidden, 'more warning')} in report.json`];
  return atMost(lines, listedOf(options), rest).flat();
}

function savedLines({ totals, dryRun }: Report, { columns }: SummaryOptions): string[] {
  const line = dryRun ? null : savedLine(totals.avoided);
  return line === null ? [] : wrapped(line, columns - 3).map((part) => `  ${part}`);
}

function stepLines(report: Report, { paint, columns, inGit = 'top' }: SummaryOptions): string[] {
  const steps = nextStepsOf(report, { columns: columns - 11, inGit });
  return steps.map(({ what, command }) => `  ${paint.dim(what.padEnd(7))} ${command}`);
}
