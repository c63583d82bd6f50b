import type { ChalkInstance } from 'chalk';
import type { Judgement } from '../core/attempt.js';
import { blameLine } from '../core/blame.js';
import { tellProof } from '../core/proof.js';
import { violationLine } from '../core/guard/violation.js';
import { unreachable } from '../core/unreachable.js';
import type { TestRef } from '../core/failure.js';
import type { Event } from '../event.js';
import { clipped, counted, dollars, duration, testName } from './format.js';
import { localDay } from './local-time.js';
import { judgementWords, suiteRunText, verdictWords } from './wording.js';

type Of<T extends Event['type']> = Extract<Event, { type: T }>;

/** Who reads: a log, which has all of it; a person with the live view below, which says what is begun; an agent, which pays for each word. */
export type Reader = 'log' | 'person' | 'agent';

const begun: ReadonlySet<Event['type']> = new Set([
  'suite.started',
  'cause.sent',
  'cause.taken',
  'agent.started',
  'agent.retrying',
]);
const chatter: ReadonlySet<Event['type']> = new Set([
  ...begun,
  'suite.ended',
  'agent.ended',
  'attempt.green',
  'attempt.judged',
  'cause.came_back',
]);

/** What is read when an event happens, in lines without their ends; none for what only the live view shows. */
export function linesFor(event: Event, paint: ChalkInstance, reader: Reader = 'log'): string[] {
  if (reader === 'person' && begun.has(event.type)) return [];
  if (reader === 'agent' && chatter.has(event.type)) return [];
  switch (event.type) {
    case 'run.started':
      return event.dryRun ? ['dry run: failures are gathered and classified, no agent is started'] : [];
    case 'suite.started':
      return event.purpose === 'first' ? [] : [`${at(event.causeId)}${suiteRunText(event)} …`];
    case 'suite.ended':
      return suiteEnded(event);
    case 'shards.joined':
      return [shardsJoined(event)];
    case 'cause.found':
      return reader === 'log' ? causeFound(event, paint) : [causeLine(event, paint)];
    case 'cause.blamed':
    case 'blame.ended':
    case 'change.taken_back':
      return [blamed(event, paint)];
    case 'cause.flaky':
      return testLines(event.tests, flakyWord(event, paint));
    case 'fixer.proposed':
      return [proposed(event, paint)];
    case 'agent.started':
      return [agentStarted(event, paint)];
    case 'agent.ended':
      return agentEnded(event, paint);
    case 'agent.retrying':
      return [retrying(event)];
    case 'agent.waiting_for_input':
      return [personNeeded(event, paint)];
    case 'agent.escalation_resolved':
      return [`${event.escalationId} answered: ${event.choice}`];
    case 'cause.came_back':
      return [`${at(event.causeId)}${paint.magenta('did not hold')}: ${cameBack(event)}`];
    case 'tests.quarantined':
      return testLines(event.tests, `${paint.magenta('quarantined')}: red, and not failing the run`);
    case 'agent.build_paused':
      return [paused(event, paint)];
    case 'attempt.rejected':
      return rejected(event, paint);
    case 'attempt.green':
      return [`${at(event.causeId)}${paint.green('green')}; its proof follows`];
    case 'attempt.judged':
      return [`${at(event.causeId)}${judged(event, paint)}`];
    case 'cause.ended':
      return [causeEnded(event, paint)];
    case 'run.undone':
      return [`undone: ${event.restored.join(', ') || 'nothing was left to take back'}`];
    case 'run.warning':
      return [`${paint.magenta('warning')}: ${event.message}`];
    case 'cause.sent':
      return [`${at(event.causeId)}waits for a worker`];
    case 'cause.taken':
      return [`${at(event.causeId)}is healed by worker ${event.worker}`];
    case 'suite.progress':
    case 'workers.seen':
    case 'cause.started':
    case 'agent.activity':
    case 'run.ended':
      return [];
    default:
      return unreachable(event);
  }
}

function blamed(
  event: Of<'cause.blamed' | 'blame.ended' | 'change.taken_back'>,
  paint: ChalkInstance,
): string {
  if (event.type === 'change.taken_back') return `${at(event.causeId)}the change to blame was taken back`;
  if (event.type === 'blame.ended') return `${at(event.causeId)}no change is blamed: ${event.reason}`;
  return `${at(event.causeId)}${paint.magenta('blame')}: ${blameLine(event.blame)}`;
}

function agentStarted(event: Of<'agent.started'>, paint: ChalkInstance): string {
  const { causeId, attempt, slashCommand, runner, timeoutMs, logFile } = event;
  return `${at(causeId)}attempt ${attempt}: ${paint.bold(slashCommand)} (${runner}) works, at most ${duration(timeoutMs)}; its output: ${logFile}`;
}

function personNeeded(
  { causeId, question, escalationId }: Of<'agent.waiting_for_input'>,
  paint: ChalkInstance,
): string {
  return `${at(causeId)}${paint.magenta('needs review')}: ${clipped(question, 200)}${escalationId ? ` (self-heal escalations show ${escalationId})` : ''}`;
}

function causeEnded(event: Of<'cause.ended'>, paint: ChalkInstance): string {
  return `${at(event.causeId)}${paint.bold(verdictWords[event.verdict].word)}: ${event.reason}${costOf(event)}`;
}

function paused({ status }: Of<'agent.build_paused'>, paint: ChalkInstance): string {
  return `${paint.magenta('paused')}: too many questions wait for a person (${status}); no further agent is started`;
}

function proposed({ causeId, attempt, summary }: Of<'fixer.proposed'>, paint: ChalkInstance): string {
  return `${at(causeId)}attempt ${attempt}: ${paint.bold('built-in')}, without an agent: ${clipped(summary, 200)}`;
}

function retrying({ causeId, delayMs, reason }: Of<'agent.retrying'>): string {
  if (delayMs === 0) return `${at(causeId)}starting again: ${clipped(reason, 200)}`;
  return `${at(causeId)}waiting ${duration(delayMs)} before the next try: ${clipped(reason, 120)}`;
}

function costOf({ costUsd }: { costUsd: number | null }): string {
  return costUsd === null ? '' : `, ${dollars(costUsd)}`;
}

function at(causeId: string | null): string {
  return causeId === null ? '' : `${causeId} `;
}

function suiteEnded({
  purpose,
  total,
  passed,
  failed,
  flaky,
  notRun,
  durationMs,
}: Of<'suite.ended'>): string[] {
  if (purpose !== 'first') return [];
  const parts = [counted(passed, 'passed', 'passed'), `${failed} failed`];
  if (flaky > 0) parts.push(`${flaky} flaky`);
  if (notRun > 0) parts.push(`${notRun} did not run`);
  return total === 0 ? [] : [`${counted(total, 'test')}: ${parts.join(', ')} (${duration(durationMs)})`];
}

function shardsJoined({ total, missing }: Of<'shards.joined'>): string {
  return missing.length === 0
    ? `${counted(total, 'shard')}, run on other machines:`
    : `${total - missing.length} of ${counted(total, 'shard')}, run on other machines:`;
}

function causeFound({ cause }: Of<'cause.found'>, paint: ChalkInstance): string[] {
  const [first, ...others] = cause.tests;
  const more = others.length > 0 ? ` (and ${counted(others.length, 'more test')})` : '';
  const why = cause.why[0];
  return [
    `${cause.id} ${paint.red(cause.category)}: ${clipped(cause.headline, 160)}`,
    ...(first ? [`   ${testName(first)}${more}`] : []),
    ...(why ? [`   because the ${why.source} says: ${clipped(why.evidence, 160)}`] : []),
    ...(cause.warning ? [`   ${paint.magenta(cause.warning)}`] : []),
  ];
}

/** A cause in one line: the live view and the last screen say the rest. */
function causeLine({ cause }: Of<'cause.found'>, paint: ChalkInstance): string {
  const [first, ...others] = cause.tests;
  const where = first ? ` · ${clipped(testName(first), 100)}` : '';
  const more = others.length > 0 ? ` (+${others.length})` : '';
  return `${cause.id} ${paint.red(cause.category)}: ${clipped(cause.headline, 100)}${where}${more}`;
}

const TESTS_SHOWN = 10;

function flakyWord({ causeId }: Of<'cause.flaky'>, paint: ChalkInstance): string {
  const said =
    causeId === null ? 'green without a change, no agent' : `green without the fix of ${causeId} too`;
  return `${paint.magenta('flaky')}: ${said}`;
}

function testLines(tests: readonly TestRef[], what: string): string[] {
  const lines = tests.slice(0, TESTS_SHOWN).map((test) => `${what}: ${testName(test)}`);
  const more = tests.length - TESTS_SHOWN;
  return more > 0 ? [...lines, `${what}: and ${counted(more, 'more test')}`] : lines;
}

function agentEnded(event: Of<'agent.ended'>, paint: ChalkInstance): string[] {
  const cost = costOf(event);
  const files = `${counted(event.filesChanged, 'file')} changed`;
  const line = `${at(event.causeId)}attempt ${event.attempt}: agent ${event.outcome} after ${duration(event.durationMs)}${cost}, ${files}`;
  const left = event.leftovers.map(
    (one) => `${at(event.causeId)}ended a process that it left behind: ${one}`,
  );
  return [event.outcome === 'completed' ? line : paint.magenta(line), ...left];
}

function cameBack({ fix }: Of<'cause.came_back'>): string {
  const by = fix.agent === null ? '' : ` by ${fix.agent}`;
  const said = !fix.summary ? '' : ` (${clipped(fix.summary, 120)})`;
  return `healed ${counted(fix.times, 'time')} before, last on ${localDay(fix.healedAt)}${by} in run ${fix.runId}${said}`;
}

const VIOLATIONS_SHOWN = 6;

/** Each violation with the lines that were there and the lines that took their place. */
function rejected({ causeId, violations }: Of<'attempt.rejected'>, paint: ChalkInstance): string[] {
  const shown = violations
    .slice(0, VIOLATIONS_SHOWN)
    .flatMap((one) => [
      `${at(causeId)}${paint.red('weakens the tests')}: ${clipped(violationLine(one), 200)}`,
      ...(one.before === null ? [] : [`   ${paint.red('-')} ${clipped(one.before, 160)}`]),
      ...(one.after === null ? [] : [`   ${paint.green('+')} ${clipped(one.after, 160)}`]),
    ]);
  const more = violations.length - VIOLATIONS_SHOWN;
  return more > 0 ? [...shown, `${at(causeId)}and ${counted(more, 'more violation')}`] : shown;
}

function judged({ attempt }: Of<'attempt.judged'>, paint: ChalkInstance): string {
  const { judged, proof, testProofs, failedBecause, takenBack } = attempt;
  const words = tones[judged](paint)(judgementWords[judged]);
  if (judged === 'green' && !takenBack)
    return proof.length > 0 ? `${words}: ${tellProof(proof, testProofs)}` : words;
  const told = failedBecause ? ` (${clipped(failedBecause, 160)})` : '';
  return `${words}${told}${takenBack ? '; its change was taken back' : ''}`;
}

const plain = () => (text: string) => text;
const red = (paint: ChalkInstance) => paint.red;
const magenta = (paint: ChalkInstance) => paint.magenta;
const tones: Record<Judgement, (paint: ChalkInstance) => (text: string) => string> = {
  green: (paint) => paint.green,
  flaky: magenta,
  changed: magenta,
  'still-failing': red,
  vanished: red,
  rejected: red,
  conflict: plain,
  'not-judged': plain,
};
