import type { Writable } from 'node:stream';
import type { ChalkInstance } from 'chalk';
import ora from 'ora';
import type { Reporter } from '../bus.js';
import { linesFor } from './lines.js';
import { createStatus } from './status.js';

/** Where and how to talk to a person. */
export interface TerminalOptions {
  readonly stream: Writable & { columns?: number };
  readonly paint: ChalkInstance;
  /** A terminal that may be redrawn: no CI, no pipe. */
  readonly live: boolean;
  readonly now: () => number;
}

/** Plain lines as things happen; on a terminal also one live line that says what is going on. */
export function terminalReporter({ stream, paint, live, now }: TerminalOptions): Reporter {
  const status = createStatus();
  const spinner = live ? ora({ stream, discardStdin: false, hideCursor: false }) : null;
  const width = () => (stream.columns ?? 100) - 4;
  const draw = () => {
    const text = status.text(now(), width());
    if (!spinner) return;
    if (text === null) spinner.stop();
    else if (spinner.isSpinning) spinner.text = text;
    else spinner.start(text);
  };
  const ticking = live ? setInterval(draw, 1000) : null;
  ticking?.unref();
  return {
    name: 'terminal',
    handle: (event) => {
      const lines = linesFor(event, paint);
      if (lines.length > 0) spinner?.stop();
      for (const line of lines)
        stream.write(`${paint.dim('self-heal')} ${line.replaceAll(/\s*\n\s*/g, ' ')}\n`);
      status.take(event);
      draw();
    },
    close: () => {
      if (ticking) clearInterval(ticking);
      spinner?.stop();
    },
  };
}
