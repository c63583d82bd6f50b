import type { ChalkInstance } from 'chalk';
import { isBuiltIn } from '../core/built-in-fixer.js';
import type { Reporter } from '../run/bus.js';
import { emptyRun, type RunState } from '../run/run-state.js';
import { wrappedPainted } from './cut.js';
import { linesFor } from './lines.js';
import { liveRegion, type Screen } from './live-region.js';
import { liveView } from './live-view.js';
import { systemClock } from '../clock.js';
import type { CauseSummary } from '../event.js';
import { isLive } from './is-live.js';
import { paletteFor } from './palette.js';

/** How to write to a terminal or a log. */
export interface TerminalOptions {
  readonly stream: Screen;
  readonly paint: ChalkInstance;
  /** Whether the terminal may be redrawn: not in CI, not a pipe. */
  readonly live: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The interval at which the live view is redrawn, to update its clocks, however often an agent reports activity; in milliseconds. */
const REDRAW_MS = 250;

/** Prints plain lines as things happen and, if the terminal may be redrawn, the live view below them. */
export function terminalReporter({ stream, paint, live, now }: TerminalOptions): Reporter {
  let run = emptyRun();
  const region = live ? liveRegion(stream, { color: paint.level > 0 }) : null;
  const draw = () => {
    const [columns, rows] = [stream.columns || 80, stream.rows || 24];
    region?.show(isShown(run) ? liveView(run, { paint, columns, rows, now: now() }) : []);
  };
  const ticking = region ? setInterval(draw, REDRAW_MS) : null;
  ticking?.unref();
  if (region) stream.on('resize', draw);
  return {
    name: 'terminal',
    handle: (event, after) => {
      const width = live ? (stream.columns || 80) - 1 : Infinity;
      const lines = linesFor(event, paint, live ? 'person' : 'log');
      const text = lines
        .flatMap((line) => wrappedPainted(`${paint.dim('self-heal')} ${line}`, width))
        .map((line) => `${line}\n`)
        .join('');
      if (text !== '') stream.write(text);
      run = after;
      if (!isShown(run)) draw();
    },
    close: () => {
      if (ticking) clearInterval(ticking);
      stream.off('resize', draw);
      region?.close();
    },
  };
}

/** Whether to show the live view: during the first run, the terminal belongs to the user's own reporter, and a green run has nothing to show. */
function isShown({ first, ended, spans }: RunState): boolean {
  return ended === null && first !== null && (first.failed > 0 || first.total === 0 || spans.length > 1);
}

/** Creates the reporter for standard error, to suit its reader: a person or a log. */
export function runTerminal(env: NodeJS.ProcessEnv): Reporter {
  return terminalReporter({
    stream: process.stderr,
    paint: paletteFor(env),
    live: isLive(env, process.stderr),
    now: () => systemClock.now(),
  });
}

interface ShownPlan {
  readonly cause: Pick<CauseSummary, 'id' | 'category'>;
  readonly slashCommand: string;
  readonly runner: string;
  readonly prompt: string;
}

/** Prints the prompt, which is data, to standard output (CL-7). */
export function showPlan({ cause, slashCommand, runner, prompt }: ShownPlan): void {
  const to = isBuiltIn({ runner })
    ? 'to paste, because no agent program is set up'
    : `${slashCommand} (${runner})`;
  const head = `${cause.id} ${cause.category} → ${to}`;
  process.stdout.write(`\n${head}\n\n${prompt.trimEnd()}\n`);
}
