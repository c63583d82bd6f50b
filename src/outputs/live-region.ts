import type { Writable } from 'node:stream';
import type { Ora } from 'ora';
import { widthOf } from '../width.js';

/** A terminal, or a stand-in for one. */
export type Screen = Writable & {
  columns?: number;
  rows?: number;
  /** The current size; `columns` is updated only once the resize signal has been handled. */
  getWindowSize?(): [columns: number, rows: number];
};

/** The lines at the bottom of the terminal that are redrawn continuously, below everything that is printed. */
export interface LiveRegion {
  /** Shows these lines, none of which is wider than the screen; an empty list removes the region. */
  show(lines: readonly string[]): void;
  close(): void;
}

/** The columns that the spinner takes before the first line. */
const SIGN = 2;

/** The spinner is slow on purpose, since every frame takes time from the tests. */
const FRAME_MS = 250;

/**
 * Draws with ora, which clears the region before anything else is written to the terminal, and then redraws it below. The cursor stays
 * visible, so that nothing needs to be restored, however the process ends. A process that exits by itself, or because of a bug, removes the
 * region first.
 */
export function liveRegion(screen: Screen, { color }: { color: boolean }): LiveRegion {
  let text = '';
  let spinner: Ora | undefined;
  let loading: Promise<void> | undefined;
  // Stopping a spinner that is not shown would still move the cursor, in the middle of what somebody else prints.
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
    spinner = await createSpinner(screen, color);
    draw();
  };
  const onResize = () => {
    if (spinner?.isSpinning) clearReflowed(screen, spinner);
  };
  process.on('exit', stop);
  screen.on('resize', onResize);
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
      screen.off('resize', onResize);
    },
  };
}

async function createSpinner(screen: Screen, color: boolean): Promise<Ora> {
  const { default: ora } = await import('ora');
  const spinner = ora({
    stream: screen,
    // The caller has already decided that the screen may be redrawn; ora would treat CI=false as CI.
    isEnabled: true,
    discardStdin: false,
    hideCursor: false,
    color: color ? 'magenta' : false,
    interval: FRAME_MS,
  });
  drawInOnePiece(screen, spinner);
  return spinner;
}

/**
 * Writes each frame in one piece: ora clears line by line and then writes, and the terminal must not show the moment in between. Frames for an
 * outdated window size are skipped, because the resize event is about to arrive, and so are frames for a window without a width, for which ora would
 * clear an infinite number of lines.
 */
function drawInOnePiece(screen: Screen, spinner: Ora): void {
  const render = spinner.render.bind(spinner);
  spinner.render = () => {
    const [columns] = screen.getWindowSize?.() ?? [screen.columns];
    if (columns !== screen.columns || columns === 0) return spinner;
    screen.cork();
    try {
      return render();
    } finally {
      screen.uncork();
    }
  };
}

/** Clears the region after the terminal became narrower: its lines were wrapped, so it is higher than ora drew it. */
function clearReflowed(screen: Screen, spinner: Ora): void {
  const columns = screen.columns || 80;
  const widths = spinner.text.split('\n').map((line, index) => widthOf(line) + (index === 0 ? SIGN : 0));
  const added = widths.reduce((sum, width) => sum + Math.max(0, Math.ceil(width / columns) - 1), 0);
  spinner.clear();
  if (added > 0) screen.write('\u001b[A\u001b[2K'.repeat(added));
}
