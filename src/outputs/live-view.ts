import type { ChalkInstance } from 'chalk';
import { cut } from './cut.js';
import { counted, dollars, duration } from './format.js';
import { isGood, markOf } from './marks.js';
import type { CauseStatus, Phase, Status } from './status.js';

/** The room there is, in columns and rows, and the time in milliseconds since the epoch. */
export interface LiveViewOptions {
  readonly paint: ChalkInstance;
  readonly columns: number;
  readonly rows: number;
  readonly now: number;
}

/** More than this would push what the run has said out of sight. */
const MOST_ROWS = 12;
const MOST_ACTIVE = 4;

/**
 * What is going on, in lines that each fit the terminal and together leave room on it (CL-13): the run; the causes at work, each with its agent's
 * last action below; the last that ended; and how many wait. The first line is two columns narrower, for a sign that moves before it.
 */
export function liveView(status: Status, options: LiveViewOptions): string[] {
  const rows = Math.max(1, Math.min(MOST_ROWS, options.rows - 2));
  const active = status.causes.filter(({ phase }) => phase !== null);
  const ended = status.causes.filter(({ ended, phase }) => ended !== null && phase === null);
  const below = [
    ...phaseLines(status, options),
    ...active.slice(0, MOST_ACTIVE).flatMap((cause) => activeLines(cause, options)),
  ];
  const waiting = waitingLine(status, active.length - MOST_ACTIVE, options);
  const room = Math.max(0, rows - 1 - below.length - waiting.length);
  const last = room === 0 ? [] : ended.toSorted((a, b) => endOf(a) - endOf(b)).slice(-room);
  return [
    headline(status, options),
    ...last.map((cause) => endedLine(cause, options)),
    ...below,
    ...waiting,
  ].slice(0, rows);
}

function headline(status: Status, { paint, columns, now }: LiveViewOptions): string {
  const { causes, costUsd, startedAt } = status;
  const ended = causes.flatMap((cause) => (cause.ended ? [cause.ended.verdict] : []));
  const good = ended.filter(isGood).length;
  const parts = [
    ...(causes.length > 0
      ? [`${ended.length} of ${counted(causes.length, 'cause')} done, ${good} healed`]
      : []),
    seconds(now - startedAt),
    ...(costUsd === null ? [] : [dollars(costUsd)]),
  ];
  const text = cut(`self-heal ${parts.join(' · ')}`, columns - 3);
  return text.replace('self-heal', paint.bold('self-heal'));
}

/** What is done for no cause alone. */
function phaseLines({ phase }: Status, { paint, columns, now }: LiveViewOptions): string[] {
  if (!phase) return [];
  const doing = phase.doing === '' ? [] : [`      ${paint.dim(cut(phase.doing, columns - 7))}`];
  return [`  ${paint.magenta('▸')} ${cut(phaseText(phase, now), columns - 5)}`, ...doing];
}

function activeLines(cause: CauseStatus, { paint, columns, now }: LiveViewOptions): string[] {
  const { phase, agent, costUsd, startedAt, id, category } = cause;
  if (!phase) return [];
  const parts = [
    `${id} ${category}`,
    phaseText(phase, now),
    ...(agent === null ? [] : [agent]),
    ...(costUsd === null ? [] : [dollars(costUsd)]),
    ...(startedAt === null || startedAt === phase.since ? [] : [`${seconds(now - startedAt)} in all`]),
  ];
  const line = cut(parts.join(' · '), columns - 5);
  const said = phase.doing || cause.headline;
  return [`  ${paint.magenta('▸')} ${line}`, `      ${paint.dim(cut(said, columns - 7))}`];
}

function endedLine(cause: CauseStatus, { paint, columns }: LiveViewOptions): string {
  const { id, ended, agent, costUsd, startedAt, category, headline } = cause;
  if (!ended) return '';
  const parts = [
    `${id} ${ended.verdict}`,
    ...(agent === null ? [] : [agent]),
    ...(startedAt === null ? [] : [seconds(ended.at - startedAt)]),
    ...(costUsd === null ? [] : [dollars(costUsd)]),
    `${category}: ${headline}`,
  ];
  return `  ${markOf(ended.verdict, paint)} ${cut(parts.join(' · '), columns - 5)}`;
}

function waitingLine({ causes }: Status, hidden: number, { paint, columns }: LiveViewOptions): string[] {
  const waiting = causes.filter(({ phase, ended }) => phase === null && ended === null).length;
  const parts = [
    ...(hidden > 0 ? [`${hidden} more at work`] : []),
    ...(waiting > 0 ? [`${counted(waiting, 'cause')} to go`] : []),
  ];
  return parts.length === 0 ? [] : [`  ${paint.dim(cut(`… ${parts.join(', ')}`, columns - 3))}`];
}

/** `agent works, try 2, 34s`, or `waiting 8s` for what has an end. */
function phaseText({ text, since, until }: Phase, now: number): string {
  return until === null ? `${text}, ${seconds(now - since)}` : `${text} ${seconds(until - now)}`;
}

function endOf({ ended }: CauseStatus): number {
  return ended?.at ?? 0;
}

/** Whole seconds: a fraction that changes with each redraw tells nobody anything. */
function seconds(ms: number): string {
  return ms < 1000 ? '0s' : duration(Math.floor(ms / 1000) * 1000);
}
