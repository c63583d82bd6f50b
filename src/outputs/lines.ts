import {
  getEndReason,
  formatReview,
  describeAttemptEnd,
  type AttemptEnd,
  exitWords,
  wasReverted,
} from '../model/attempt.js';
import type { ChalkInstance } from 'chalk';
import { describeBlame } from '../model/blame.js';
import { formatAgentName } from '../model/built-in.js';
import { formatProofWithScope } from '../model/proof.js';
import { formatCut, formatViolation } from '../model/guard-findings.js';
import { describeFlake } from '../model/flake.js';
import type { TestRef } from '../model/failure.js';
import type { Event, EventOf } from '../event.js';
import { truncate, wrap } from './truncate.js';
import { atMost, counted, duration, localDay } from '../format.js';
import { formatCost, formatTestName, changeWords, verdictWords } from './wording.js';
import { describeSuiteRun } from '../run/phase-words.js';

/** Who reads the lines. A log gets all of them; a person sees work in progress in the live view. */
export type Reader = 'log' | 'person';

const liveViewOnly: readonly Event['type'][] = ['suite.started', 'agent.started', 'agent.retrying'];

/** Returns the lines for an event, without line breaks; empty if only the live view shows it. */
export function formatEvent(event: Event, paint: ChalkInstance, reader: Reader = 'log'): string[] {
  if (reader === 'person' && liveViewOnly.includes(event.type)) return [];
  // TypeScript cannot see that the formatter found under `event.type` accepts this event.
  return [(lines[event.type] as FormatLines<never>)(event as never, paint, reader)].flat();
}

type FormatLines<E> = (event: E, paint: ChalkInstance, reader: Reader) => string | string[];
const noLines = () => [];

const lines: { readonly [T in Event['type']]: FormatLines<EventOf<T>> } = {
  'run.started': noLines,
  'suite.started': (event) =>
    event.purpose === 'first' ? [] : `${causePrefix(event)}${describeSuiteRun(event)} …`,
  'suite.progress': noLines,
  'suite.ended': formatSuiteEnd,
  'reports.read': ({ total, missing }) => {
    const read = missing.length === 0 ? '' : `${total - missing.length} of `;
    return total === 1 ? 'results from a Playwright report:' : `results from ${read}${total} shards:`;
  },
  'tests.seen': noLines,
  'tests.decided': noLines,
  'cause.found': formatCause,
  'cause.narrowed': noLines,
  'cause.joined': ({ causeId, cause }) => `${causeId} joins ${cause.id}: the same change broke both`,
  'tests.edited': ({ files }, paint) => [
    `${paint.magenta('edited')} by somebody else during the run: ${files.join(', ')}`,
  ],
  'cause.flaky': ({ tests, causeId }, paint) => {
    const reason =
      causeId === null
        ? 'green without a change, no agent was started'
        : `also green without the fix for ${causeId}`;
    return formatTests(tests, `${paint.magenta('flaky')}: ${reason}`);
  },
  'cause.started': noLines,
  'cause.blamed': (event, paint) =>
    `${causePrefix(event)}${paint.magenta('blame')}: ${describeBlame(event.blame)}`,
  'blame.ended': (event) => `${causePrefix(event)}${event.reason}`,
  'cause.came_back': (event, paint) =>
    `${causePrefix(event)}${paint.magenta('the same error as before')}: ${describeEarlierFix(event)}`,
  // The escalation's question was printed before.
  'cause.ended': (event, paint) =>
    event.verdict === 'escalated'
      ? []
      : `${causePrefix(event)}${paint.bold(verdictWords[event.verdict].word)}: ${event.reason}${formatCost(event)}`,
  'tests.quarantined': ({ tests }, paint) =>
    formatTests(tests, `${paint.magenta('quarantined')}: red, but does not fail the run`),
  'flake.found': ({ flake }, paint) => [
    `${paint.magenta('flaky')}: ${formatTestName(flake.test)}: ${describeFlake(flake)}`,
    ...flake.difference.map((line) => `   ${truncate(line, 400)}`),
  ],
  'flake.passed': ({ test, green }) => `green ${green.runs} of ${green.runs}: ${formatTestName(test)}`,
  'fixer.proposed': (event) =>
    `${causePrefix(event)}attempt ${event.attempt}, without an agent run: ${event.summary}`,
  'agent.started': (event, paint) =>
    `${causePrefix(event)}${event.isReview ? 'reviewing the fix' : `attempt ${event.attempt}`}: ${paint.bold(event.slashCommand)} (${event.runner}), at most ${duration(event.timeoutMs)}; log: ${event.logFile}`,
  'agent.activity': noLines,
  'agent.ended': formatAgentEnd,
  'agent.retrying': (event) =>
    event.delayMs === 0
      ? `${causePrefix(event)}restarting: ${truncate(event.reason, 200)}`
      : `${causePrefix(event)}waiting ${duration(event.delayMs)} before the next try: ${truncate(event.reason, 120)}`,
  'agent.waiting_for_input': (event, paint) => {
    const show = event.escalationId ? ` (self-heal escalations show ${event.escalationId})` : '';
    return `${causePrefix(event)}${paint.magenta('needs review')}: ${wrap(event.question, Infinity).join('')}${show}`;
  },
  'agent.escalation_resolved': ({ escalationId, choice }) => `${escalationId} answered: ${choice}`,
  'agent.build_paused': ({ status }, paint) =>
    `${paint.magenta('paused')}: too many questions are waiting for an answer (${status}); no more agents are started`,
  'attempt.cut': (event, paint) =>
    event.cut.map(
      (file) =>
        `${causePrefix(event)}${paint.magenta('left out of the fix')}: ${truncate(formatCut(file), 200)}`,
    ),
  'attempt.rejected': formatRejection,
  'attempt.held': (event, paint) =>
    event.attempt.reading && event.attempt.proposedBy !== 'memory'
      ? describeMissingReview(event)
      : event.attempt.end.kind === 'green'
        ? `${causePrefix(event)}${paint.green('green')}; its proof is pending`
        : `${causePrefix(event)}${paint.magenta('different error')}: ${truncate(getEndReason(event.attempt) ?? '', 200)}; the fix stays only if that is healed, too`,
  'attempt.judged': formatJudgement,
  'regression.ended': noLines,
  'change.verified': formatVerdict,
  'run.undone': ({ restored }) => `undone: ${restored.join(', ') || 'nothing to revert'}`,
  'run.warning': ({ message }, paint) => `${paint.magenta('warning')}: ${message}`,
  'run.stopped': noLines,
  'run.ended': noLines,
};

function causePrefix({ causeId }: { causeId: string | null }): string {
  return causeId === null ? '' : `${causeId} `;
}

/** Explains why a fix has no review. A review is printed when its agent ends. */
function describeMissingReview({ attempt: { reading }, ...event }: EventOf<'attempt.held'>): string[] {
  const wasPrinted = reading?.by != null;
  return reading && !wasPrinted ? [`${causePrefix(event)}${formatReview(reading)}`] : [];
}

function formatSuiteEnd(event: EventOf<'suite.ended'>): string[] {
  const { purpose, total, passed, failed, flaky, notRun, durationMs } = event;
  if (purpose !== 'first' || total === 0) return [];
  const parts = [`${passed} passed`, `${failed} failed`];
  if (flaky > 0) parts.push(`${flaky} flaky`);
  if (notRun > 0) parts.push(`${notRun} did not run`);
  return [`${counted(total, 'test')}: ${parts.join(', ')} (${duration(durationMs)})`];
}

/** A log gets all details; for a person one line is enough, because the live view and the final summary show the rest. */
function formatCause({ cause }: EventOf<'cause.found'>, paint: ChalkInstance, reader: Reader): string[] {
  const [first, ...others] = cause.tests;
  const head = `${cause.id} ${paint.red(cause.category)}: ${truncate(cause.headline, reader === 'log' ? 160 : 100)}`;
  if (reader !== 'log') {
    const more = others.length > 0 ? ` (+${others.length})` : '';
    return [`${head}${first ? ` · ${truncate(formatTestName(first), 100)}` : ''}${more}`];
  }
  const more = others.length > 0 ? ` (and ${counted(others.length, 'more test')})` : '';
  const why = cause.why[0];
  return [
    head,
    ...(first ? [`   ${formatTestName(first)}${more}`] : []),
    ...(why ? [`   because the ${why.source} says: ${truncate(why.evidence, 160)}`] : []),
    ...(cause.warning ? [`   ${paint.magenta(cause.warning)}`] : []),
  ];
}

const TESTS_SHOWN = 10;

function formatTests(tests: readonly TestRef[], label: string): string[] {
  const names = atMost(
    tests.map(formatTestName),
    TESTS_SHOWN,
    (hidden) => `and ${counted(hidden, 'more test')}`,
  );
  return names.map((name) => `${label}: ${name}`);
}

function formatAgentEnd(event: EventOf<'agent.ended'>, paint: ChalkInstance): string[] {
  const { attempt, exit, durationMs, filesChanged, orphans, opinion } = event;
  const files = filesChanged > 0 ? `, ${counted(filesChanged, 'file')} changed` : '';
  const review =
    opinion && `${causePrefix(event)}the reviewer says: ${formatReview(opinion)}${formatCost(event)}`;
  const line =
    review ??
    `${causePrefix(event)}attempt ${attempt}: agent ${exitWords[exit]} after ${duration(durationMs)}${formatCost(event)}${files}`;
  const orphanLines = orphans.map(
    (orphan) => `${causePrefix(event)}stopped a leftover agent process: ${orphan}`,
  );
  return [exit === 'completed' ? line : paint.magenta(line), ...orphanLines];
}

function describeEarlierFix({ fix }: EventOf<'cause.came_back'>): string {
  const by = fix.agent === null ? '' : ` by ${formatAgentName(fix.agent)}`;
  const claim = !fix.summary ? '' : ` (${truncate(fix.summary, 120)})`;
  return `healed ${counted(fix.times, 'time')}, last on ${localDay(fix.healedAt)}${by} in run ${fix.runId}${claim}`;
}

const VIOLATIONS_SHOWN = 6;

function formatRejection(event: EventOf<'attempt.rejected'>, paint: ChalkInstance): string[] {
  const lines = event.violations.map((violation) => [
    `${causePrefix(event)}${paint.red('rejected')}: ${truncate(formatViolation(violation), 200)}`,
    ...(violation.before === null ? [] : [`   ${paint.red('-')} ${truncate(violation.before, 160)}`]),
    ...(violation.after === null ? [] : [`   ${paint.green('+')} ${truncate(violation.after, 160)}`]),
  ]);
  const describeHidden = (hidden: number) => [
    `${causePrefix(event)}and ${counted(hidden, 'more violation')}`,
  ];
  return atMost(lines, VIOLATIONS_SHOWN, describeHidden).flat();
}

const FINDINGS_SHOWN = 12;

/** The verdict comes last, next to the prompt. */
function formatVerdict(
  { verification: { verdict, reason, findings, proven, notProven } }: EventOf<'change.verified'>,
  paint: ChalkInstance,
): string[] {
  const describeHidden = (hidden: number) => `and ${counted(hidden, 'more finding')}`;
  const tone = verdict === 'proven' ? paint.green : verdict === 'review' ? paint.magenta : paint.red;
  return [
    ...atMost(
      findings.map((finding) => truncate(formatViolation(finding), 300)),
      FINDINGS_SHOWN,
      describeHidden,
    ),
    ...proven.map((sentence) => `${paint.green('proven')}: ${sentence}`),
    ...notProven.map((sentence) => `${paint.magenta('not proven')}: ${sentence}`),
    `${tone(changeWords[verdict])}: ${reason}`,
  ];
}

function formatJudgement(event: EventOf<'attempt.judged'>, paint: ChalkInstance): string {
  const { end } = event.attempt;
  const words = `${causePrefix(event)}${endColors[end.kind](paint)(describeAttemptEnd(end))}`;
  if (end.kind === 'green')
    return end.proof.length > 0 ? `${words}: ${formatProofWithScope(end.proof, end.testProofs)}` : words;
  // The violations were printed before.
  const hasViolations = end.kind === 'rejected' && end.violations.length > 0;
  const reason = end.because && !hasViolations ? ` (${truncate(end.because, 400)})` : '';
  return `${words}${reason}${wasReverted(event.attempt) ? '; its change was reverted' : ''}`;
}

const unpainted = () => (text: string) => text;
const red = (paint: ChalkInstance) => paint.red;
const magenta = (paint: ChalkInstance) => paint.magenta;
const endColors: Record<AttemptEnd['kind'], (paint: ChalkInstance) => (text: string) => string> = {
  green: (paint) => paint.green,
  flaky: magenta,
  changed: magenta,
  offered: magenta,
  'taken-out': red,
  'still-failing': red,
  vanished: red,
  rejected: red,
  denied: red,
  unusable: red,
  conflict: unpainted,
  refused: unpainted,
  unwritable: unpainted,
  interrupted: unpainted,
};
