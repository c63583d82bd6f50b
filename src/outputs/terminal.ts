import type { ChalkInstance } from 'chalk';
import { isBuiltIn } from '../model/built-in.js';
import type { Reporter } from '../run/bus.js';
import { type RunState, type CauseState, type Phase, createEmptyRun } from '../run/run-state.js';
import { truncate, wrapPainted } from './truncate.js';
import { formatEvent } from './lines.js';
import { systemClock } from '../clock.js';
import type { CauseRecord } from '../model/cause.js';
import { canRedraw, choosePalette } from './streams.js';
import { isHealed } from '../model/verdict.js';
import { counted, dollars, duration } from '../format.js';
import { formatMark } from './view.js';
import { describePhaseEvent } from '../run/phase-words.js';
import { verdictWords } from './wording.js';
import type { Writable } from 'node:stream';
import type { Ora } from 'ora';

export interface TerminalOptions {
  readonly stream: Screen;
  readonly paint: ChalkInstance;
  /** True if the terminal may be redrawn: not in CI, not a pipe. */
  readonly isLive: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The interval at which the live view is redrawn, in milliseconds. */
const REDRAW_MS = 250;

/** Prints plain lines as things happen and, if the terminal may be redrawn, the live view below them. */
export function createTerminalReporter({ stream, paint, isLive, now }: TerminalOptions): Reporter {
  let run = createEmptyRun();
  const region = isLive ? createLiveRegion(stream, { color: paint.level > 0 }) : null;
  const draw = () => {
    const [columns, rows] = [stream.columns || 80, stream.rows || 24];
    region?.show(showsLiveView(run) ? renderLiveView(run, { paint, columns, rows, now: now() }) : []);
  };
  const timer = region ? setInterval(draw, REDRAW_MS) : null;
  timer?.unref();
  if (region) stream.on('resize', draw);
  return {
    name: 'terminal',
    handle: (event, stateAfter) => {
      const width = isLive ? (stream.columns || 80) - 1 : Infinity;
      // The summary counts repeated warnings.
      const isRepeated = event.type === 'run.warning' && run.warnings.includes(event.message);
      const lines = isRepeated ? [] : formatEvent(event, paint, isLive ? 'person' : 'log');
      const text = lines
        .flatMap((line) => wrapPainted(`${paint.dim('self-heal')} ${line}`, width))
        .map((line) => `${line}\n`)
        .join('');
      if (text !== '') stream.write(text);
      run = stateAfter;
      if (!showsLiveView(run)) draw();
    },
    close: () => {
      if (timer) clearInterval(timer);
      stream.off('resize', draw);
      region?.close();
    },
  };
}

/** False during the first run, when the terminal belongs to the user's own reporter, and for a green run, which has nothing to show. */
function showsLiveView({ first, ended, suite, playwrightRuns }: RunState): boolean {
  if (ended !== null || first === null) return false;
  return first.failed > 0 || first.total === 0 || suite !== null || playwrightRuns > 1;
}

/** Creates the reporter for standard error, for a person or a log. */
export function createTerminal(env: NodeJS.ProcessEnv): Reporter {
  return createTerminalReporter({
    stream: process.stderr,
    paint: choosePalette(env),
    isLive: canRedraw(env, process.stderr),
    now: () => systemClock.now(),
  });
}

interface AgentPlan {
  readonly cause: Pick<CauseRecord, 'id' | 'category'>;
  readonly slashCommand: string;
  readonly runner: string;
  readonly prompt: string;
}

/** Prints the prompt to standard output, because it is data (CL-7). */
export function showPlan({ cause, slashCommand, runner, prompt }: AgentPlan): void {
  const recipient = isBuiltIn({ runner })
    ? 'to paste, because no agent program is set up'
    : `${slashCommand} (${runner})`;
  const head = `${cause.id} ${cause.category} → ${recipient}`;
  process.stdout.write(`\n${head}\n\n${prompt.trimEnd()}\n`);
}

/** The available space in columns and rows, and the current time in milliseconds since the epoch. */
export interface LiveViewOptions {
  readonly paint: ChalkInstance;
  readonly columns: number;
  readonly rows: number;
  readonly now: number;
}

/** More rows would scroll earlier output off the screen. */
const MAX_ROWS = 12;
const MAX_ACTIVE = 4;

/**
 * Renders the work in progress in a few lines (CL-13): the run, the causes that ended last, the causes in progress with the last action of each
 * agent, and the number of waiting causes. The first line is two columns narrower, because a spinner precedes it.
 */
function renderLiveView(run: RunState, options: LiveViewOptions): string[] {
  const rows = Math.max(1, Math.min(MAX_ROWS, options.rows - 2));
  const active = run.causes.filter((cause) => cause.phase !== null);
  const ended = run.causes.filter(({ ended, phase }) => ended !== null && phase === null);
  const below = [
    ...formatPhase(run, options),
    ...active.slice(0, MAX_ACTIVE).flatMap((cause) => formatActive(cause, options)),
  ];
  const waiting = formatWaiting(run, active.length - MAX_ACTIVE, options);
  const room = Math.max(0, rows - 1 - below.length - waiting.length);
  const last = room === 0 ? [] : ended.toSorted((a, b) => getEndTime(a) - getEndTime(b)).slice(-room);
  return [
    formatHeadline(run, options),
    ...last.map((cause) => formatEnded(cause, options)),
    ...below,
    ...waiting,
  ].slice(0, rows);
}

function formatHeadline(run: RunState, { paint, columns, now }: LiveViewOptions): string {
  const { causes, costUsd, startedAt } = run;
  const ended = causes.flatMap((cause) => (cause.ended ? [cause.ended.verdict] : []));
  const healed = ended.filter(isHealed).length;
  const parts = [
    ...(causes.length > 0
      ? [`${ended.length} of ${counted(causes.length, 'cause')} done, ${healed} healed`]
      : []),
    formatSeconds(now - (startedAt ?? now)),
    ...(costUsd === null ? [] : [dollars(costUsd)]),
  ];
  const text = truncate(`self-heal ${parts.join(' · ')}`, columns - 3);
  return text.replace('self-heal', paint.bold('self-heal'));
}

/** Shows work on several causes, such as the proof. */
function formatPhase({ phase }: RunState, { paint, columns, now }: LiveViewOptions): string[] {
  if (!phase) return [];
  const activity = phase.doing === '' ? [] : [`      ${paint.dim(truncate(phase.doing, columns - 7))}`];
  return [`  ${paint.magenta('▸')} ${truncate(describePhase(phase, now), columns - 5)}`, ...activity];
}

function formatActive(cause: CauseState, { paint, columns, now }: LiveViewOptions): string[] {
  const { id, category, headline, phase, costUsd, startedAt } = cause;
  if (!phase) return [];
  const parts = [
    `${id} ${category}`,
    describePhase(phase, now),
    ...describeAgent(cause),
    ...(costUsd === null ? [] : [dollars(costUsd)]),
    ...(startedAt === null || startedAt === phase.since.time
      ? []
      : [`${formatSeconds(now - startedAt)} total`]),
  ];
  const line = truncate(parts.join(' · '), columns - 5);
  const activity = phase.doing || headline;
  return [`  ${paint.magenta('▸')} ${line}`, `      ${paint.dim(truncate(activity, columns - 7))}`];
}

function formatEnded(cause: CauseState, { paint, columns }: LiveViewOptions): string {
  const { id, category, headline, ended, costUsd, startedAt } = cause;
  if (!ended) return '';
  const parts = [
    `${id} ${verdictWords[ended.verdict].word}`,
    ...describeAgent(cause),
    ...(startedAt === null ? [] : [formatSeconds(ended.time - startedAt)]),
    ...(costUsd === null ? [] : [dollars(costUsd)]),
    `${category}: ${headline}`,
  ];
  return `  ${formatMark(ended.verdict, paint)} ${truncate(parts.join(' · '), columns - 5)}`;
}

function formatWaiting({ causes }: RunState, hidden: number, { paint, columns }: LiveViewOptions): string[] {
  const waiting = causes.filter(({ phase, ended }) => phase === null && ended === null).length;
  const parts = [
    ...(hidden > 0 ? [`${hidden} more in progress`] : []),
    ...(waiting > 0 ? [`${counted(waiting, 'cause')} to go`] : []),
  ];
  return parts.length === 0 ? [] : [`  ${paint.dim(truncate(`… ${parts.join(', ')}`, columns - 3))}`];
}

/** Describes a phase: `agent working, try 2, 34s`, or `waiting 8s` if its end is known. */
function describePhase({ since }: Phase, now: number): string {
  const text = describePhaseEvent(since);
  if (since.type === 'agent.retrying') return `${text} ${formatSeconds(since.time + since.delayMs - now)}`;
  return `${text}, ${formatSeconds(now - since.time)}`;
}

/** Returns the last agent that worked on it: `/debugger (claude)`. */
function describeAgent({ attempts }: CauseState): string[] {
  const last = attempts.findLast(({ started }) => started !== null)?.started;
  return last ? [`${last.slashCommand} (${last.runner})`] : [];
}

function getEndTime({ ended }: CauseState): number {
  return ended?.time ?? 0;
}

/** Formats whole seconds, because fractions that change with every redraw are useless. */
function formatSeconds(ms: number): string {
  return ms < 1000 ? '0s' : duration(Math.floor(ms / 1000) * 1000);
}

export type Screen = Writable & { columns?: number; rows?: number };

/** The continuously redrawn lines at the bottom of the terminal, below all printed lines. */
export interface LiveRegion {
  /** Shows these lines, none of which is wider than the screen; an empty list removes the region. */
  show(lines: readonly string[]): void;
  close(): void;
}

/** The spinner is slow on purpose, because every frame takes CPU time from the tests. */
const FRAME_MS = 250;

/**
 * Draws with ora, which clears the region before other output and redraws it below. The cursor stays visible, so a killed process leaves nothing to
 * restore. A process that exits by itself, or because of a bug, removes the region first.
 */
function createLiveRegion(screen: Screen, { color }: { color: boolean }): LiveRegion {
  let text = '';
  let spinner: Ora | undefined;
  let loading: Promise<void> | undefined;
  // Stopping a hidden spinner would move the cursor, perhaps within another program's output.
  const stop = () => {
    if (spinner?.isSpinning) spinner.stop();
  };
  const draw = () => {
    if (text === '') return stop();
    if (!spinner) return;
    spinner.text = text;
    if (!spinner.isSpinning) spinner.start();
  };
  const load = async () => {
    const { default: ora } = await import('ora');
    spinner = ora({
      stream: screen,
      // The caller has checked that the screen can be redrawn; ora would take CI=false for CI.
      isEnabled: true,
      discardStdin: false,
      hideCursor: false,
      color: color ? 'magenta' : false,
      interval: FRAME_MS,
    });
    draw();
  };
  process.on('exit', stop);
  return {
    show: (lines) => {
      text = lines.join('\n');
      // A green run never loads ora.
      if (text !== '') loading ??= load();
      draw();
    },
    close: () => {
      text = '';
      stop();
      process.off('exit', stop);
    },
  };
}
