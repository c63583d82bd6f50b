import { isKept } from '../core/attempt.js';
import type { Report, ReportCause } from '../run/report.js';
import { isGood } from './marks.js';

/** What a person may do next: what for, and the command to copy, which is never cut. */
export interface NextStep {
  readonly what: string;
  readonly command: string;
}

/** What is left to do about one cause; null where nothing is. */
export function nextStepFor(report: Report, cause: ReportCause): NextStep | null {
  if (isGood(cause.verdict) || cause.verdict === 'flaky' || cause.verdict === 'quarantined') return null;
  const asked = report.escalations.find(({ causeId, stored }) => causeId === cause.id && stored);
  if (asked) return { what: 'next', command: `npx self-heal escalations resolve ${asked.id}` };
  if (cause.verdict === 'agent-unusable') return { what: 'next', command: 'npx self-heal doctor' };
  return { what: 'next', command: `npx self-heal inspect ${report.runId} ${cause.id} --prompt` };
}

/** What is left to do about the run as a whole. */
export function nextStepsOf(
  report: Report,
  { columns, inGit }: { readonly columns: number; readonly inGit: 'top' | 'below' | null },
): NextStep[] {
  const { runId, causes, outcome, escalations } = report;
  const kept = [...new Set(causes.flatMap((cause) => keptFiles(cause).map(({ path }) => path)))];
  const waiting = escalations.filter(({ stored }) => stored).length;
  const unfinished = ['interrupted', 'paused', 'budget', 'agent-unusable'].includes(outcome);
  return [
    ...(kept.length > 0
      ? [
          ...(inGit ? [{ what: 'review', command: gitDiff(kept, { columns, inGit }) }] : []),
          { what: 'undo', command: `npx self-heal undo ${runId}` },
        ]
      : []),
    ...(waiting > 1 ? [{ what: 'decide', command: 'npx self-heal escalations' }] : []),
    ...(unfinished ? [{ what: 'go on', command: `npx self-heal resume ${runId}` }] : []),
    ...(causes.length > 0 ? [{ what: 'report', command: `npx self-heal report ${runId} --open` }] : []),
  ];
}

/** The files of a cause's changes that are in the project. */
export function keptFiles({ attempts }: ReportCause): ReportCause['attempts'][number]['files'] {
  return attempts.filter(isKept).flatMap(({ files }) => files);
}

/** The changed files by name where that fits and needs no quoting; else all that has changed. */
function gitDiff(
  paths: readonly string[],
  { columns, inGit }: { readonly columns: number; readonly inGit: 'top' | 'below' },
): string {
  // Below the top, git reads a path from the folder that it is run in, unless `:/` says otherwise.
  const named = `git diff -- ${paths.map((one) => (inGit === 'top' ? one : `:/${one}`)).join(' ')}`;
  return named.length <= columns && paths.every((path) => /^[\w./@+-]+$/.test(path)) ? named : 'git diff';
}
