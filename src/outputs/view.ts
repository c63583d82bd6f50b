import type { ChalkInstance } from 'chalk';
import { becauseOf, exitWords, isKept, readingText, wasReverted, wordsOfEnd } from '../model/attempt.js';
import { blameLine, blamePosition } from '../model/blame.js';
import { type Offer, offerLine, offersOf } from '../model/escalation.js';
import { provenText } from '../model/failure-rate.js';
import { flakeText } from '../model/flake.js';
import { cutLine, type Violation, violationLine, noteLine } from '../model/guard-findings.js';
import { tellProof } from '../model/proof.js';
import { type CauseVerdict, isResolved } from '../model/verdict.js';
import type { FlakeState } from '../run/run-state.js';
import type { Report, ReportAttempt, ReportCause, ReportTest } from '../run/report.js';
import { atMost, counted, dollars, duration } from '../format.js';
import {
  costText,
  fileText,
  reportTestName,
  regressionText,
  type VerdictWords,
  verdictWords,
} from './wording.js';

/** A run as every report shows it. The printers only lay it out: terminal, Markdown, HTML, JUnit and GitHub say the same. */
export interface RunView {
  readonly report: Report;
  /** What a person has to look at comes first; equals stay in the order in which they were found. */
  readonly causes: readonly CauseView[];
  readonly tallies: readonly Tally[];
  /** Remarks that belong to no cause. */
  readonly remarks: readonly Remark[];
}

/** A cause with what the report says about it elsewhere. */
export interface CauseView {
  readonly cause: ReportCause;
  readonly words: VerdictWords;
  /** Whether nothing is left to do. */
  readonly isDone: boolean;
  readonly tests: readonly ReportTest[];
  /** Its first test by name, and the number of others. */
  readonly about: string;
  /** The measurements of its test, if that is flaky; else null. */
  readonly flake: FlakeState | null;
  /** The changes that are in the project, and what a reviewer should look at in them. */
  readonly files: ReportAttempt['files'];
  readonly notes: ReportAttempt['notes'];
  /** What a reader says of them, or why nobody has read them. */
  readonly reading: ReportAttempt['reading'];
  /** The patches of which a person has to choose one. */
  readonly offers: readonly Offer[];
  /** The command that is next; null if there is nothing to do. */
  readonly next: string | null;
}

export function viewOf(report: Report): RunView {
  const byId = new Map(report.tests.map((test) => [test.id, test]));
  const causes = report.causes.map((cause) => causeView(cause, report, byId));
  return {
    report,
    causes: causes.toSorted((a, b) => a.words.rank - b.words.rank),
    tallies: talliesOf(report),
    remarks: remarksOf(report),
  };
}

function causeView(cause: ReportCause, report: Report, byId: ReadonlyMap<string, ReportTest>): CauseView {
  const tests = cause.tests.flatMap((id) => byId.get(id) ?? []);
  const kept = cause.attempts.filter(isKept);
  return {
    cause,
    words: verdictWords[cause.verdict],
    isDone: isGood(cause.verdict),
    tests,
    flake: report.flakes?.find(({ test }) => cause.tests.includes(test.id)) ?? null,
    about: tests[0]
      ? `${reportTestName(tests[0])}${tests.length > 1 ? ` (+${tests.length - 1})` : ''}`
      : suiteItself,
    files: kept.flatMap(({ files }) => files),
    notes: kept.flatMap(({ notes }) => notes),
    reading: kept.findLast(({ reading }) => reading)?.reading,
    offers: cause.verdict === 'escalated' ? offersOf(cause.attempts) : [],
    next: nextFor(cause, report),
  };
}

/** The name of the suite's own failure in reports, since it belongs to no test. */
export const suiteItself = 'the suite itself, before its tests';

/** Whether nothing is left to do. */
function isGood(verdict: CauseVerdict): boolean {
  return verdict === 'passed' || isResolved(verdict);
}

/** Returns how a cause ended as one sign. The sign and the word next to it carry the meaning; the color only repeats it. */
export function markOf(verdict: CauseVerdict, paint: ChalkInstance): string {
  return (isGood(verdict) ? paint.green : paint.red)(verdictWords[verdict].sign);
}

function nextFor(cause: ReportCause, { escalations, runId }: Report): string | null {
  if (isGood(cause.verdict) || cause.verdict === 'flaky' || cause.verdict === 'quarantined') return null;
  const question = escalations.find(({ causeId, stored }) => causeId === cause.id && stored);
  if (question) return `npx self-heal escalations resolve ${question.id}`;
  // The remedy, if one is known; the program's own words are shown above.
  const end = cause.attempts.at(-1)?.end;
  const remedy = end?.kind === 'unusable' ? end.remedy.replaceAll('`', '') : null;
  return cause.verdict === 'agent-unusable'
    ? (remedy ?? 'npx self-heal doctor')
    : `npx self-heal inspect ${runId} ${cause.id} --prompt`;
}

export interface Row {
  /** Empty if it continues the row above. */
  readonly label: string;
  readonly text: string;
  /** Whether it is a name, an output or a command, rather than a sentence. */
  readonly isCode?: boolean;
}

/** How many items are listed for a cause; the rest is counted. */
export interface RowLimits {
  /** How many of the last attempts are described; those before are counted, with their cost. */
  readonly attempts: number;
  /** How many cuts, violations and notes are listed for each attempt. */
  readonly findings: number;
}

/** Returns the rows of a cause, in the order of all reports: the reason, its tests, the attempts, the proof, and the next step. */
export function rowsOf(
  { cause, isDone, about, files, flake, reading, notes, offers, next }: CauseView,
  limits: RowLimits,
): Row[] {
  const { blame, warning, source, attempts, proof, testProofs, reason } = cause;
  const [why] = cause.why;
  const rows: (Row | false | null | undefined | '')[] = [
    blame && { label: 'blame', text: `${blamePosition(blame)}: ${blameLine(blame)}` },
    flake && { label: 'flake', text: flakeText(flake) },
    why && { label: 'why', text: `${why.source}: ${why.evidence}`, isCode: true },
    !why && warning !== null && { label: 'why', text: warning },
    source !== null && { label: 'source', text: source, isCode: true },
    { label: 'tests', text: about, isCode: true },
    attempts.length === 0 && isDone && { label: 'fix', text: reason },
    ...attemptRows(attempts, limits),
    proof.length > 0 && {
      label: 'proof',
      text: flake?.green ? provenText(flake.red, flake.green) : tellProof(proof, testProofs),
      isCode: true,
    },
    reading && { label: 'read', text: readingText(reading) },
    files.length > 0 && { label: 'files', text: files.map(fileText).join(', '), isCode: true },
    ...atMost(notes.map(noteLine), limits.findings, (hidden) => `and ${hidden} more in the report`).map(
      (text, index) => ({ label: index === 0 ? 'review' : '', text }),
    ),
    (!isDone || cause.verdict === 'green-once') && reason !== '' && { label: 'end', text: reason },
    ...offers.map((offer) => ({ label: 'patch', text: offerLine(offer) })),
    next !== null && { label: 'next', text: next, isCode: true },
  ];
  return rows.filter((row) => !!row);
}

function attemptRows(attempts: readonly ReportAttempt[], limits: RowLimits): Row[] {
  const before = attempts.slice(0, -limits.attempts);
  const spent = before.flatMap(({ costUsd }) => costUsd ?? []);
  const cost = spent.length > 0 ? `, ${dollars(spent.reduce((sum, amount) => sum + amount))}` : '';
  return [
    ...(before.length > 0
      ? [{ label: '', text: `${counted(before.length, 'try', 'tries')} before${cost}` }]
      : []),
    ...attempts
      .slice(-limits.attempts)
      .flatMap((attempt) => [
        { label: `try ${attempt.n}`, text: attemptText(attempt) },
        ...findings(attempt, limits),
      ]),
  ];
}

function findings(attempt: ReportAttempt, { findings: most }: RowLimits): Row[] {
  const { cut } = attempt;
  const violations = violationsOf(attempt).map((violation) => [
    violationLine(violation),
    ...(violation.before === null ? [] : [`  - ${violation.before}`]),
    ...(violation.after === null ? [] : [`  + ${violation.after}`]),
  ]);
  return [
    ...cut.slice(0, most).map((cut) => `left out: ${cutLine(cut)}`),
    ...atMost(violations, most, (hidden) => [`and ${counted(hidden, 'more violation')}`]).flat(),
  ].map((text) => ({ label: '', text }));
}

/** Formats an attempt in one line: `/debugger (claude) ran out of time, 12s, $0.02 → still red, reverted (the same error)`. */
export function attemptText(attempt: ReportAttempt): string {
  const { agent, slashCommand, runner, exit, durationMs, proposedBy, claim } = attempt;
  if (proposedBy !== undefined && proposedBy !== 'fixer') return `${claim?.summary}: ${endText(attempt)}`;
  const who = slashCommand === null ? agent : `${slashCommand} (${runner ?? ''})`;
  const ended = exit === null || exit === 'completed' ? '' : `${exitWords[exit]}, `;
  const took = `${who} ${ended}${duration(durationMs)}${costText(attempt)}`;
  return `${agent === null ? 'no agent, unchanged code' : took} → ${endText(attempt)}`;
}

/** Says how an attempt ended: `still red, reverted (the same error came back)`. */
export function endText(attempt: ReportAttempt): string {
  // Violations follow, and are the reason.
  const because = violationsOf(attempt).length > 0 ? null : becauseOf(attempt);
  const reason = because ? ` (${because})` : '';
  return `${wordsOfEnd(attempt.end)}${wasReverted(attempt) ? ', reverted' : ''}${reason}`;
}

/** Returns what the guard found in an attempt. */
export function violationsOf({ end }: Pick<ReportAttempt, 'end'>): readonly Violation[] {
  return end.kind === 'rejected' ? end.violations : [];
}

/** Returns the next steps for the run as a whole: the purpose of each, and a command to copy, which is never cut. */
export function nextSteps({
  report,
  causes,
}: RunView): { readonly purpose: string; readonly command: string }[] {
  const { runId, outcome, escalations } = report;
  const hasChanged = causes.some(({ files }) => files.length > 0);
  const waiting = escalations.filter(({ stored }) => stored).length;
  const unfinished = ['interrupted', 'paused', 'budget', 'agent-unusable'].includes(outcome);
  const steps = [
    hasChanged && { purpose: 'review', command: `npx self-heal report ${runId} --patch` },
    hasChanged && { purpose: 'undo', command: `npx self-heal undo ${runId}` },
    waiting > 1 && { purpose: 'decide', command: 'npx self-heal escalations' },
    unfinished && !report.dryRun && { purpose: 'continue', command: 'npx self-heal run' },
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
function talliesOf({ totals, tests, verify, shards }: Report): Tally[] {
  const quarantined = tests.filter(({ verdict }) => verdict === 'quarantined').length;
  const missing = shards?.missing.length ?? 0;
  const of = (count: number, name: string, text = `${count} ${name}`): Tally[] =>
    count > 0 ? [{ name, value: String(count), text }] : [];
  const figure = (name: string, value: string): Tally => ({ name, value, text: value });
  return [
    { name: 'passed', value: String(totals.passed), text: `${totals.passed} passed` },
    ...of(totals.healed, verify === 'quick' ? 'healed (quick proof)' : 'healed'),
    ...of(totals.greenOnce, 'green once, not proven'),
    ...of(totals.flaky, 'flaky'),
    ...of(totals.failed, 'failed'),
    ...of(quarantined, 'quarantined'),
    ...of(totals.skipped, 'skipped'),
    ...of(totals.notRun, 'not run'),
    ...of(missing, 'shards missing', `${counted(missing, 'shard')} missing`),
    ...of(totals.agentRuns, 'agent runs', counted(totals.agentRuns, 'agent run')),
    ...(totals.costUsd === null ? [] : [figure('cost', dollars(totals.costUsd))]),
    figure('time', duration(totals.durationMs)),
  ];
}

/** A remark about the run as a whole; it has at least one item. */
export interface Remark {
  readonly title: string;
  readonly items: readonly string[];
}

function remarksOf({ tests, regression, warnings, flakes = [] }: Report): Remark[] {
  const namesWith = (verdict: ReportTest['verdict']) =>
    tests.filter((test) => test.verdict === verdict).map(reportTestName);
  return [
    {
      title:
        flakes.length > 0
          ? 'Flaky: red and green on the same code'
          : 'Flaky: red, then green without a change; no agent was started',
      items: tests
        .filter(({ verdict }) => verdict === 'flaky')
        .map((test) => {
          const flake = flakes.find((measured) => measured.test.id === test.id);
          return `${reportTestName(test)}${flake ? `: ${flakeText(flake)}` : ''}`;
        }),
    },
    { title: 'Quarantined: still red, but not failing the run', items: namesWith('quarantined') },
    { title: 'Regression run', items: regression ? [regressionText(regression)] : [] },
    { title: 'Warnings', items: warnings },
  ].filter(({ items }) => items.length > 0);
}
