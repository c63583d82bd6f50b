import type { ChalkInstance } from 'chalk';
import {
  getEndReason,
  exitWords,
  isKept,
  formatReview,
  wasReverted,
  describeAttemptEnd,
} from '../model/attempt.js';
import { describeBlameWithPosition } from '../model/blame.js';
import { type Offer, describeOffer, listOffers } from '../model/escalation.js';
import { formatRateProof } from '../model/failure-rate.js';
import { describeFlake } from '../model/flake.js';
import { formatCut, type Violation, formatViolation, formatNote } from '../model/guard-findings.js';
import { formatProofWithScope } from '../model/proof.js';
import { type CauseVerdict, isResolved } from '../model/verdict.js';
import type { FlakeState } from '../run/run-state.js';
import type { Report, ReportAttempt, ReportCause, ReportTest } from '../run/report.js';
import { atMost, counted, dollars, duration } from '../format.js';
import {
  formatCost,
  formatFile,
  formatReportTestName,
  describeRegression,
  type VerdictWords,
  verdictWords,
} from './wording.js';

/** A run as every report shows it. Terminal, Markdown, HTML, JUnit and GitHub use the same words and differ only in layout. */
export interface RunView {
  readonly report: Report;
  /** Causes that need a person come first; otherwise in the order in which they were found. */
  readonly causes: readonly CauseView[];
  readonly tallies: readonly Tally[];
  /** Remarks that belong to no cause. */
  readonly remarks: readonly Remark[];
}

/** A cause, with its facts from other parts of the report. */
export interface CauseView {
  readonly cause: ReportCause;
  readonly words: VerdictWords;
  /** True if nobody has to do anything more. */
  readonly isDone: boolean;
  readonly tests: readonly ReportTest[];
  /** The name of its first test, and the number of other tests. */
  readonly testLabel: string;
  /** The measurements of its flaky test; null if the test is not flaky. */
  readonly flake: FlakeState | null;
  /** The files that its fix changed in the project. */
  readonly files: ReportAttempt['files'];
  /** Lines of the fix that a person should check. */
  readonly notes: ReportAttempt['notes'];
  /** The reviewer's opinion of the changes, or why nobody has reviewed them. */
  readonly review: ReportAttempt['reading'];
  /** Patches from which a person has to choose. */
  readonly offers: readonly Offer[];
  /** The next command for the user; null if there is nothing to do. */
  readonly next: string | null;
}

export function createView(report: Report): RunView {
  const byId = new Map(report.tests.map((test) => [test.id, test]));
  const causes = report.causes.map((cause) => createCauseView(cause, report, byId));
  return {
    report,
    causes: causes.toSorted((a, b) => a.words.rank - b.words.rank),
    tallies: listTallies(report),
    remarks: listRemarks(report),
  };
}

function createCauseView(
  cause: ReportCause,
  report: Report,
  byId: ReadonlyMap<string, ReportTest>,
): CauseView {
  const tests = cause.tests.flatMap((id) => byId.get(id) ?? []);
  const kept = cause.attempts.filter(isKept);
  return {
    cause,
    words: verdictWords[cause.verdict],
    isDone: needsNoAction(cause.verdict),
    tests,
    flake: report.flakes?.find(({ test }) => cause.tests.includes(test.id)) ?? null,
    testLabel: tests[0]
      ? `${formatReportTestName(tests[0])}${tests.length > 1 ? ` (+${tests.length - 1})` : ''}`
      : suiteItself,
    files: kept.flatMap(({ files }) => files),
    notes: kept.flatMap(({ notes }) => notes),
    review: kept.findLast(({ reading }) => reading)?.reading,
    offers: cause.verdict === 'escalated' ? listOffers(cause.attempts) : [],
    next: findNextCommand(cause, report),
  };
}

/** The name in reports of a failure that belongs to no test. */
export const suiteItself = 'the suite itself, before its tests';

/** True if nobody has to do anything about a cause. */
function needsNoAction(verdict: CauseVerdict): boolean {
  return verdict === 'passed' || isResolved(verdict);
}

/** Formats the sign of a verdict. Its color only repeats the meaning of the sign and of the word next to it. */
export function formatMark(verdict: CauseVerdict, paint: ChalkInstance): string {
  return (needsNoAction(verdict) ? paint.green : paint.red)(verdictWords[verdict].sign);
}

function findNextCommand(cause: ReportCause, { escalations, runId }: Report): string | null {
  if (needsNoAction(cause.verdict) || cause.verdict === 'flaky' || cause.verdict === 'quarantined')
    return null;
  const question = escalations.find(({ causeId, stored }) => causeId === cause.id && stored);
  if (question) return `npx self-heal escalations resolve ${question.id}`;
  // The remedy, if there is one; the program's own message is shown above.
  const end = cause.attempts.at(-1)?.end;
  const remedy = end?.kind === 'unusable' ? end.remedy.replaceAll('`', '') : null;
  return cause.verdict === 'agent-unusable'
    ? (remedy ?? 'npx self-heal doctor')
    : `npx self-heal inspect ${runId} ${cause.id} --prompt`;
}

export interface Row {
  /** Empty for a continuation of the row above. */
  readonly label: string;
  readonly text: string;
  /** True for names, output and commands, false for sentences. */
  readonly isCode?: boolean;
}

/** How many items are listed for a cause; further ones are only counted. */
export interface RowLimits {
  /** How many of the last attempts are described; earlier ones are only counted, with their cost. */
  readonly attempts: number;
  /** How many cuts, violations and notes are listed for each attempt. */
  readonly findings: number;
}

/** Returns the rows of a cause, in the order of all reports: the reason, its tests, the attempts, the proof, and the next step. */
export function listRows(
  { cause, isDone, testLabel, files, flake, review, notes, offers, next }: CauseView,
  limits: RowLimits,
): Row[] {
  const { blame, warning, source, attempts, proof, testProofs, reason } = cause;
  const [why] = cause.why;
  const rows: (Row | false | null | undefined | '')[] = [
    blame && { label: 'blame', text: describeBlameWithPosition(blame) },
    flake && { label: 'flake', text: describeFlake(flake) },
    why && { label: 'why', text: `${why.source}: ${why.evidence}`, isCode: true },
    !why && warning !== null && { label: 'why', text: warning },
    source !== null && { label: 'source', text: source, isCode: true },
    { label: 'tests', text: testLabel, isCode: true },
    attempts.length === 0 && isDone && { label: 'fix', text: reason },
    ...listAttemptRows(attempts, limits),
    proof.length > 0 && {
      label: 'proof',
      text: flake?.green ? formatRateProof(flake.red, flake.green) : formatProofWithScope(proof, testProofs),
      isCode: true,
    },
    review && { label: 'review', text: formatReview(review) },
    files.length > 0 && { label: 'files', text: files.map(formatFile).join(', '), isCode: true },
    ...atMost(notes.map(formatNote), limits.findings, (hidden) => `and ${hidden} more in the report`).map(
      (text, index) => ({ label: index === 0 ? 'check' : '', text }),
    ),
    (!isDone || cause.verdict === 'green-once') && reason !== '' && { label: 'end', text: reason },
    ...offers.map((offer) => ({ label: 'patch', text: describeOffer(offer) })),
    next !== null && { label: 'next', text: next, isCode: true },
  ];
  return rows.filter((row) => !!row);
}

function listAttemptRows(attempts: readonly ReportAttempt[], limits: RowLimits): Row[] {
  const earlier = attempts.slice(0, -limits.attempts);
  const costs = earlier.flatMap(({ costUsd }) => costUsd ?? []);
  const cost = costs.length > 0 ? `, ${dollars(costs.reduce((sum, amount) => sum + amount))}` : '';
  return [
    ...(earlier.length > 0
      ? [{ label: '', text: `${counted(earlier.length, 'try', 'tries')} before${cost}` }]
      : []),
    ...attempts
      .slice(-limits.attempts)
      .flatMap((attempt) => [
        { label: `try ${attempt.n}`, text: formatAttempt(attempt) },
        ...listFindings(attempt, limits),
      ]),
  ];
}

function listFindings(attempt: ReportAttempt, { findings: most }: RowLimits): Row[] {
  const { cut } = attempt;
  const violations = listViolations(attempt).map((violation) => [
    formatViolation(violation),
    ...(violation.before === null ? [] : [`  - ${violation.before}`]),
    ...(violation.after === null ? [] : [`  + ${violation.after}`]),
  ]);
  return [
    ...cut.slice(0, most).map((cut) => `left out: ${formatCut(cut)}`),
    ...atMost(violations, most, (hidden) => [`and ${counted(hidden, 'more violation')}`]).flat(),
  ].map((text) => ({ label: '', text }));
}

/** Formats an attempt in one line: `/debugger (claude) ran out of time, 12s, $0.02 → still red, reverted (the same error)`. */
export function formatAttempt(attempt: ReportAttempt): string {
  const { agent, slashCommand, runner, exit, durationMs, proposedBy, claim } = attempt;
  if (proposedBy !== undefined && proposedBy !== 'fixer') return `${claim?.summary}: ${describeEnd(attempt)}`;
  const who = slashCommand === null ? agent : `${slashCommand} (${runner ?? ''})`;
  const exitText = exit === null || exit === 'completed' ? '' : `${exitWords[exit]}, `;
  const agentText = `${who} ${exitText}${duration(durationMs)}${formatCost(attempt)}`;
  return `${agent === null ? 'no agent, unchanged code' : agentText} → ${describeEnd(attempt)}`;
}

/** Describes the end of an attempt: `still red, reverted (the same error came back)`. */
export function describeEnd(attempt: ReportAttempt): string {
  // The violations follow, so they need no summary.
  const because = listViolations(attempt).length > 0 ? null : getEndReason(attempt);
  const words = describeAttemptEnd(attempt.end);
  const reason = because && because !== words ? ` (${because})` : '';
  return `${words}${wasReverted(attempt) ? ', reverted' : ''}${reason}`;
}

/** Returns the guard's findings in an attempt. */
export function listViolations({ end }: Pick<ReportAttempt, 'end'>): readonly Violation[] {
  return end.kind === 'rejected' ? end.violations : [];
}

/** Returns the next steps for the whole run: the purpose of each, and a command to copy, which is never cut. */
export function listNextSteps({
  report,
  causes,
}: RunView): { readonly purpose: string; readonly command: string }[] {
  const { runId, outcome, escalations } = report;
  const hasChanges = causes.some(({ files }) => files.length > 0);
  const waiting = escalations.filter(({ stored }) => stored).length;
  const isUnfinished = ['interrupted', 'paused', 'budget', 'agent-unusable'].includes(outcome);
  const steps = [
    hasChanges && { purpose: 'changes', command: `npx self-heal report ${runId} --patch` },
    hasChanges && { purpose: 'undo', command: `npx self-heal undo ${runId}` },
    waiting > 1 && { purpose: 'decide', command: 'npx self-heal escalations' },
    isUnfinished && !report.dryRun && { purpose: 'continue', command: 'npx self-heal run' },
    causes.length > 0 && { purpose: 'report', command: `npx self-heal report ${runId} --open` },
  ];
  return steps.filter((step) => !!step);
}

export interface Tally {
  /** `failed`, `agent runs`. */
  readonly name: string;
  /** `3`, `$0.02`, `4.2s`. */
  readonly value: string;
  /** Name and value combined: `3 failed`, `1 agent run`. */
  readonly text: string;
}

/** Returns a run's test counts and costs; figures that are 0 are left out, except `passed`. */
function listTallies({ totals, tests, verify, shards }: Report): Tally[] {
  const quarantined = tests.filter(({ verdict }) => verdict === 'quarantined').length;
  const missing = shards?.missing.length ?? 0;
  const countUnlessZero = (count: number, name: string, text = `${count} ${name}`): Tally[] =>
    count > 0 ? [{ name, value: String(count), text }] : [];
  const createTally = (name: string, value: string): Tally => ({ name, value, text: value });
  return [
    { name: 'passed', value: String(totals.passed), text: `${totals.passed} passed` },
    ...countUnlessZero(totals.healed, verify === 'quick' ? 'healed (quick proof)' : 'healed'),
    ...countUnlessZero(totals.greenOnce, 'green once, not proven'),
    ...countUnlessZero(totals.flaky, 'flaky'),
    ...countUnlessZero(totals.failed, 'failed'),
    ...countUnlessZero(quarantined, 'quarantined'),
    ...countUnlessZero(totals.skipped, 'skipped'),
    ...countUnlessZero(totals.notRun, 'not run'),
    ...countUnlessZero(missing, 'shards missing', `${counted(missing, 'shard')} missing`),
    ...countUnlessZero(totals.agentRuns, 'agent runs', counted(totals.agentRuns, 'agent run')),
    ...(totals.costUsd === null ? [] : [createTally('cost', dollars(totals.costUsd))]),
    createTally('time', duration(totals.durationMs)),
  ];
}

/** A remark about the run as a whole; it has at least one item. */
export interface Remark {
  readonly title: string;
  readonly items: readonly string[];
}

function listRemarks({ tests, regression, warnings, flakes = [] }: Report): Remark[] {
  const listNames = (verdict: ReportTest['verdict']) =>
    tests.filter((test) => test.verdict === verdict).map(formatReportTestName);
  return [
    {
      title:
        flakes.length > 0
          ? 'Flaky: red and green on the same code'
          : 'Flaky: red, then green without a change; no agent was started',
      items: tests
        .filter(({ verdict }) => verdict === 'flaky')
        .map((test) => {
          const flake = flakes.find((candidate) => candidate.test.id === test.id);
          return `${formatReportTestName(test)}${flake ? `: ${describeFlake(flake)}` : ''}`;
        }),
    },
    { title: 'Quarantined: still red, but do not fail the run', items: listNames('quarantined') },
    { title: 'Regression run', items: regression ? [describeRegression(regression)] : [] },
    { title: 'Warnings', items: warnings },
  ].filter(({ items }) => items.length > 0);
}
