import type { CauseVerdict, RunOutcome } from '../model/verdict.js';
import type { ChangeVerdict } from '../model/verification.js';
import type { Report, ReportAttempt, ReportTest } from '../run/report.js';
import { counted, dollars } from '../format.js';
import type { TestRef } from '../model/failure.js';

/** The outcome of a run, as a phrase. */
export const outcomeWords: Record<RunOutcome, string> = {
  green: 'Everything is green',
  red: 'Some tests are still red',
  escalated: 'Needs review',
  paused: 'Paused: too many questions are waiting for an answer',
  budget: 'Stopped: a limit was reached',
  'agent-unusable': 'Stopped: the agent program cannot run here',
  interrupted: 'Interrupted',
};

/** Describes the result of the regression run (HN-6), in a sentence without its period. */
export function describeRegression({ tests, leftOut, broke }: NonNullable<Report['regression']>): string {
  const causes = broke.map(({ causeId }) => causeId).join(', ');
  const skipped = leftOut > 0 ? `; ${counted(leftOut, 'test')} did not fit into the time limit` : '';
  return `${counted(tests, 'test')} re-run after healing: ${causes === '' ? 'nothing broke' : `${causes} broke other tests`}${skipped}`;
}

/** The words and signs for the end of a cause in reports. */
export interface VerdictWords {
  readonly word: string;
  /** For terminals and pages; only repeats the word. */
  readonly sign: string;
  /** The same for Markdown. */
  readonly emoji: string;
  /** The level of its annotation in GitHub Actions. */
  readonly level: 'error' | 'warning' | 'notice';
  /** Causes with the lowest rank need a person most and come first. */
  readonly rank: number;
}

/** How a cause ended (HN-7). */
export const verdictWords: Record<CauseVerdict, VerdictWords> = {
  escalated: { word: 'needs review', sign: '?', emoji: '❓', level: 'error', rank: 0 },
  'agent-unusable': { word: 'agent-unusable', sign: '!', emoji: '❗', level: 'error', rank: 1 },
  rejected: { word: 'rejected', sign: '✗', emoji: '⛔', level: 'error', rank: 2 },
  failed: { word: 'failed', sign: '✗', emoji: '❌', level: 'error', rank: 2 },
  interrupted: { word: 'not finished', sign: '-', emoji: '⏭️', level: 'warning', rank: 3 },
  'not-run': { word: 'not-run', sign: '-', emoji: '⏭️', level: 'warning', rank: 3 },
  skipped: { word: 'skipped', sign: '-', emoji: '⏭️', level: 'notice', rank: 5 },
  quarantined: { word: 'quarantined', sign: '~', emoji: '⚠️', level: 'warning', rank: 4 },
  flaky: { word: 'flaky', sign: '~', emoji: '⚠️', level: 'warning', rank: 4 },
  'green-once': { word: 'green-once', sign: '~', emoji: '⚠️', level: 'warning', rank: 4 },
  healed: { word: 'healed', sign: '✓', emoji: '✅', level: 'notice', rank: 5 },
  superseded: { word: 'revealed another', sign: '→', emoji: '➡️', level: 'notice', rank: 5 },
  passed: { word: 'passed', sign: '✓', emoji: '✅', level: 'notice', rank: 5 },
};

/** The words for each verdict on the changes in the working tree. */
export const changeWords: Record<ChangeVerdict, string> = {
  proven: 'proven',
  review: 'needs review',
  refused: 'refused',
  red: 'still red',
  unsteady: 'not proven',
  needless: 'not proven',
  breaks: 'breaks other tests',
  unproven: 'not proven',
};

export function capitalize(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** Turns words into a sentence: capitalizes the first, and adds a period unless there is closing punctuation. */
export function toSentence(words: string): string {
  return `${capitalize(words)}${/[.?!…]["'”)]?$/.test(words) ? '' : '.'}`;
}

/** Formats a cost after other text: `, $0.02`; empty if the cost is unknown. */
export function formatCost({ costUsd }: { readonly costUsd: number | null }): string {
  return costUsd ? `, ${dollars(costUsd)}` : '';
}

/** Formats a test's name like Playwright's own list reporter: `[project] › file:line › titles`. */
export function formatTestName({ project, titlePath, location }: TestRef): string {
  const [file = ''] = titlePath;
  return formatReportTestName({ project, file, line: location.line, title: titlePath }).replaceAll(
    /\s+/g,
    ' ',
  );
}

/** Formats a test's name in a report in the same way. */
export function formatReportTestName({
  project,
  file,
  line,
  title,
}: Pick<ReportTest, 'project' | 'file' | 'line' | 'title'>): string {
  return [...(project ? [`[${project}]`] : []), `${file}:${line}`, ...title.slice(1)].join(' › ');
}

/** Formats a changed file: `src/cart.ts +3 −1`. */
export function formatFile({ path, added, removed }: ReportAttempt['files'][number]): string {
  return added === null || removed === null ? `${path} (binary)` : `${path} +${added} −${removed}`;
}
