import { isKept } from '../core/attempt.js';
import { type Offer, offersOf } from '../core/escalation.js';
import type { Report, ReportCause } from '../run/report.js';
import { isGood } from './marks.js';

/** A possible next step: what it is for, and a command to copy, which is never cut. */
export interface NextStep {
  readonly what: string;
  readonly command: string;
}

/** Returns what is left to do about one cause; null if there is nothing. */
export function nextStepFor(report: Report, cause: ReportCause): NextStep | null {
  if (isGood(cause.verdict) || cause.verdict === 'flaky' || cause.verdict === 'quarantined') return null;
  const asked = report.escalations.find(({ causeId, stored }) => causeId === cause.id && stored);
  if (asked) return { what: 'next', command: `npx self-heal escalations resolve ${asked.id}` };
  if (cause.verdict === 'agent-unusable') return { what: 'next', command: 'npx self-heal doctor' };
  return { what: 'next', command: `npx self-heal inspect ${report.runId} ${cause.id} --prompt` };
}

/** Returns what is left to do about the run as a whole. */
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
    ...(unfinished ? [{ what: 'resume', command: `npx self-heal resume ${runId}` }] : []),
    ...(causes.length > 0 ? [{ what: 'report', command: `npx self-heal report ${runId} --open` }] : []),
  ];
}

/** Returns the files of a cause's changes that are in the project. */
export function keptFiles({ attempts }: ReportCause): ReportCause['attempts'][number]['files'] {
  return attempts.filter(isKept).flatMap(({ files }) => files);
}

/** Returns the patches of a cause of which a person has to choose one. */
export function offersIn({ verdict, attempts }: ReportCause): Offer[] {
  return verdict === 'escalated' ? offersOf(attempts) : [];
}

/** Returns what a reviewer should look at in the changes that are in the project. */
export function keptNotes({ attempts }: ReportCause): ReportCause['attempts'][number]['notes'] {
  return attempts.filter(isKept).flatMap(({ notes }) => notes);
}

/** Returns a command with the names of the changed files if they fit and need no quoting; else one that shows all changes. */
function gitDiff(
  paths: readonly string[],
  { columns, inGit }: { readonly columns: number; readonly inGit: 'top' | 'below' },
): string {
  // In a subfolder, git resolves paths against the current folder unless they begin with `:/`.
  const named = `git diff -- ${paths.map((one) => (inGit === 'top' ? one : `:/${one}`)).join(' ')}`;
  return named.length <= columns && paths.every((path) => /^[\w./@+-]+$/.test(path)) ? named : 'git diff';
}
