import type { ChalkInstance } from 'chalk';
import { isHealed } from '../core/verdict.js';
import { cut } from './cut.js';
import { counted, dollars, duration } from './format.js';
import { markOf } from './marks.js';
import type { CauseState, Phase, RunState } from '../run/run-state.js';
import { phaseWords, verdictWords } from './wording.js';

/** The available space in columns and rows, and the current time in milliseconds since the epoch. */
export interface LiveViewOptions {
  readonly paint: ChalkInstance;
  readonly columns: number;
  readonly rows: number;
  readonly now: number;
}

/** More rows would push the run's earlier output out of sight. */
const MOST_ROWS = 12;
const MOST_ACTIVE = 4;

/**
 * Renders what is going on, in lines that each fit the terminal and together leave room on it (CL-13): the run; the causes at work, each with
 * its agent's last action below it; the causes that ended last; and how many are waiting. The first line is two columns narrower, because a
 * spinner precedes it.
 */
export function liveView(run: RunState, options: LiveViewOptions): string[] {
  const rows = Math.max(1, Math.min(MOST_ROWS, options.rows - 2));
  const active = run.causes.filter((cause) => cause.phase !== null);
  const ended = run.causes.filter(({ ended, phase }) => ended !== null && phase === null);
  const below = [
    ...phaseLines(run, options),
    ...active.slice(0, MOST_ACTIVE).flatMap((cause) => activeLines(cause, options)),
  ];
  const waiting = waitingLine(run, active.length - MOST_ACTIVE, options);
  const room = Math.max(0, rows - 1 - below.length - waiting.length);
  const last = room === 0 ? [] : ended.toSorted((a, b) => endOf(a) - endOf(b)).slice(-room);
  return [
    headline(run, options),
    ...last.map((cause) => endedLine(cause, options)),
    ...below,
    ...waiting,
  ].slice(0, rows);
}

function headline(run: RunState, { paint, columns, now }: LiveViewOptions): string {
  const { causes, costUsd, startedAt } = run;
  const ended = causes.flatMap((cause) => (cause.ended ? [cause.ended.verdict] : []));
  const healed = ended.filter(isHealed).length;
  const parts = [
    ...(causes.length > 0
      ? [`${ended.length} of ${counted(causes.length, 'cause')} done, ${healed} healed`]
      : []),
    seconds(now - (startedAt ?? now)),
    ...(costUsd === null ? [] : [dollars(costUsd)]),
  ];
  const text = cut(`self-heal ${parts.join(' · ')}`, columns - 3);
  return text.replace('self-heal', paint.bold('self-heal'));
}

/** Shows work that belongs to no single cause. */
function phaseLines({ phase }: RunState, { paint, columns, now }: LiveViewOptions): string[] {
  if (!phase) return [];
  const doing = phase.doing === '' ? [] : [`      ${paint.dim(cut(phase.doing, columns - 7))}`];
  return [`  ${paint.magenta('▸')} ${cut(phaseText(phase, now), columns - 5)}`, ...doing];
}

function activeLines(cause: CauseState, { paint, columns, now }: LiveViewOptions): string[] {
  const { phase, costUsd, startedAt } = cause;
  const { id, category, headline } = cause.summary;
  if (!phase) return [];
  const parts = [
    `${id} ${category}`,
    phaseText(phase, now),
    ...agentOf(cause),
    ...(costUsd === null ? [] : [dollars(costUsd)]),
    ...(startedAt === null || startedAt === phase.since.time ? [] : [`${seconds(now - startedAt)} total`]),
  ];
  const line = cut(parts.join(' · '), columns - 5);
  const said = phase.doing || headline;
  return [`  ${paint.magenta('▸')} ${line}`, `      ${paint.dim(cut(said, columns - 7))}`];
}

function endedLine(cause: CauseState, { paint, columns }: LiveViewOptions): string {
  const { ended, costUsd, startedAt } = cause;
  const { id, category, headline } = cause.summary;
  if (!ended) return '';
  const parts = [
    `${id} ${verdictWords[ended.verdict].word}`,
    ...agentOf(cause),
    ...(startedAt === null ? [] : [seconds(ended.time - startedAt)]),
    ...(costUsd === null ? [] : [dollars(costUsd)]),
    `${category}: ${headline}`,
  ];
  return `  ${markOf(ended.verdict, paint)} ${cut(parts.join(' · '), columns - 5)}`;
}

function waitingLine({ causes }: RunState, hidden: number, { paint, columns }: LiveViewOptions): string[] {
  const waiting = causes.filter(({ phase, ended }) => phase === null && ended === null).length;
  const parts = [
    ...(hidden > 0 ? [`${hidden} more in progress`] : []),
    ...(waiting > 0 ? [`${counted(waiting, 'cause')} to go`] : []),
  ];
  return parts.length === 0 ? [] : [`  ${paint.dim(cut(`… ${parts.join(', ')}`, columns - 3))}`];
}

/** `agent working, try 2, 34s`, or `waiting 8s` for a phase with a known end. */
function phaseText({ since }: Phase, now: number): string {
  const text = phaseWords(since);
  if (since.type === 'agent.retrying') return `${text} ${seconds(since.time + since.delayMs - now)}`;
  return `${text}, ${seconds(now - since.time)}`;
}

/** Returns the last agent that worked on it: `/debugger (claude)`. */
function agentOf({ attempts }: CauseState): string[] {
  const last = attempts.findLast(({ started }) => started !== null)?.started;
  return last ? [`${last.slashCommand} (${last.runner})`] : [];
}

function endOf({ ended }: CauseState): number {
  return ended?.time ?? 0;
}

/** Formats whole seconds, since fractions that change with every redraw are useless. */
function seconds(ms: number): string {
  return ms < 1000 ? '0s' : duration(Math.floor(ms / 1000) * 1000);
}
