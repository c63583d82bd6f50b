import type { Writable } from 'node:stream';
import type { Ora } from 'ora';

/** A terminal, or a stand-in for one. */
export type Screen = Writable & { columns?: number; rows?: number };

/** The lines at the bottom of the terminal that are redrawn continuously, below everything that is printed. */
export interface LiveRegion {
  /** Shows these lines, none of which is wider than the screen; an empty list removes the region. */
  show(lines: readonly string[]): void;
  close(): void;
}

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
    const { default: ora } = await import('ora');
    spinner = ora({
      stream: screen,
      // The caller has already decided that the screen may be redrawn; ora would treat CI=false as CI.
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
