import type { Reporter } from '../run/bus.js';
import { systemClock } from '../clock.js';
import type { CauseSummary } from '../event.js';
import { isLive } from './is-live.js';
import { isTerse } from './is-terse.js';
import { paletteFor, unpainted } from './palette.js';
import { terminalReporter } from './terminal.js';

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
