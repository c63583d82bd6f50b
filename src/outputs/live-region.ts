import type { Writable } from 'node:stream';
import type { Ora } from 'ora';
import { widthOf } from '../width.js';

/** A terminal, or what stands for one. */
export type Screen = Writable & {
  columns?: number;
  rows?: number;
  /** The size at this moment; `columns` follows when the signal of the change has been handled. */
  getWindowSize?(): [columns: number, rows: number];
};

/** The lines at the bottom of the terminal that are drawn again and again, below all that is printed. */
export interface LiveRegion {
  /** Shows these lines, none of them wider than the screen; none at all takes the region away. */
  show(lines: readonly string[]): void;
  close(): void;
}

/** Columns that the moving sign takes before the first line. */
const SIGN = 2;

/** The sign need not whirl: each frame is time that the tests do not get. */
const FRAME_MS = 250;

/**
 * Draws with ora, which clears the region before anything else is written to the terminal and draws it again below. The cursor stays visible, so that
 * nothing needs to be restored, however the process ends; a process that ends by itself, or by a bug, takes the region away first.
 */
export function liveRegion(screen: Screen, { colour }: { colour: boolean }): LiveRegion {
  let text = '';
  let spinner: Ora | undefined;
  let loading: Promise<void> | undefined;
  // A stop of what is not shown would still move the cursor, in the midst of what somebody else prints.
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
    spinner = await createSpinner(screen, colour);
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
      // A green run never loads it.
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

async function createSpinner(screen: Screen, colour: boolean): Promise<Ora> {
  const { default: ora } = await import('ora');
  const spinner = ora({
    stream: screen,
    // Who makes a region has decided that the screen may be redrawn; ora would count CI=false as CI.
    isEnabled: true,
    discardStdin: false,
    hideCursor: false,
    color: colour ? 'magenta' : false,
    interval: FRAME_MS,
  });
  drawInOnePiece(screen, spinner);
  return spinner;
}

/**
 * Ora clears line by line and then writes: in one piece, no terminal shows the moment between. Nothing is drawn for a size that the window
 * no longer has: its resize is about to be told.
 */
function drawInOnePiece(screen: Screen, spinner: Ora): void {
  const render = spinner.render.bind(spinner);
  spinner.render = () => {
    const [columns] = screen.getWindowSize?.() ?? [screen.columns];
    if (columns !== screen.columns) return spinner;
    screen.cork();
    try {
      return render();
    } finally {
      screen.uncork();
    }
  };
}

/** A narrower terminal has broken the lines anew, so that the region is higher than ora drew it: the rows above are cleared as well. */
function clearReflowed(screen: Screen, spinner: Ora): void {
  const columns = screen.columns || 80;
  const widths = spinner.text.split('\n').map((line, index) => widthOf(line) + (index === 0 ? SIGN : 0));
  const added = widths.reduce((sum, width) => sum + Math.max(0, Math.ceil(width / columns) - 1), 0);
  spinner.clear();
  if (added > 0) screen.write('\u001b[A\u001b[2K'.repeat(added));
}
