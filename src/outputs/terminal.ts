import type { ChalkInstance } from 'chalk';
import type { Reporter } from '../run/bus.js';
import { emptyRun, type RunState } from '../run/run-state.js';
import { cutPainted } from './cut.js';
import { linesFor, type Reader } from './lines.js';
import { liveRegion, type Screen } from './live-region.js';
import { liveView } from './live-view.js';
import { systemClock } from '../clock.js';
import type { CauseSummary } from '../event.js';
import { isLive } from './is-live.js';
import { isTerse } from './is-terse.js';
import { paletteFor, unpainted } from './palette.js';

/** Where and how to talk to a person, or to an agent. */
export interface TerminalOptions {
  readonly stream: Screen;
  readonly paint: ChalkInstance;
  /** A terminal that may be redrawn: no CI, no pipe. */
  readonly live: boolean;
  /** An agent reads, and pays for each word: only causes, what became of them, and warnings. Goes before `live`. */
  readonly terse?: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The live view is drawn again this often, for its clocks, and no oftener, however much an agent says. */
const REDRAW_MS = 250;

/** Plain lines as things happen; on a terminal also the live view below them. */
export function terminalReporter(options: TerminalOptions): Reporter {
  const { stream, paint, now, terse = false } = options;
  const live = options.live && !terse;
  const reader: Reader = terse ? 'agent' : live ? 'person' : 'log';
  let run = emptyRun();
  const region = live ? liveRegion(stream, { colour: paint.level > 0 }) : null;
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
      const lines = linesFor(event, paint, reader);
      const text = lines
        .map((line) => `${cutPainted(`${paint.dim('self-heal')} ${line}`, width)}\n`)
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

/** While the suite runs for the first time, the terminal is the user's own reporter's; a green one leaves nothing to show. */
function isShown({ first, ended, spans }: RunState): boolean {
  return ended === null && first !== null && (first.failed > 0 || first.total === 0 || spans.length > 1);
}

/** Standard error, as whoever reads it wants it: a person, a log, an agent. */
export function runTerminal(env: NodeJS.ProcessEnv, options: { readonly terse?: boolean }): Reporter {
  const terse = isTerse(env, options);
  return terminalReporter({
    stream: process.stderr,
    paint: terse ? unpainted : paletteFor(env),
    live: isLive(env, process.stderr.isTTY),
    terse,
    now: () => systemClock.now(),
  });
}

interface ShownPlan {
  readonly cause: Pick<CauseSummary, 'id' | 'category'>;
  readonly slashCommand: string;
  readonly runner: string;
  readonly prompt: string;
}

/** The prompt is data: it goes to standard output (CL-7). */
export function showPlan({ cause, slashCommand, runner, prompt }: ShownPlan): void {
  const head = `${cause.id} ${cause.category} → ${slashCommand} (${runner})`;
  process.stdout.write(`\n${head}\n\n${prompt.trimEnd()}\n`);
}
