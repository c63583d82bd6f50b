import process from 'node:process';
import { Chalk } from 'chalk';
import ora from 'ora';
import { runDrills, type HeldDrill } from '../doctor/drill/run-drills.js';
import { exitCodes, type Problem } from '../problem.js';
import { clipped } from '../outputs/format.js';
import { drillText } from './drill-text.js';
import { listenForInterrupts } from './interrupts.js';
import { isLive } from './is-live.js';

/** What `self-heal doctor --drill` was asked for. */
export interface DrillOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** `self-heal doctor --drill`: gives the exit code, or the problem that kept the drill from being held (CL-11). */
export async function doctorDrill({ config, json }: DrillOptions): Promise<number | Problem> {
  using interrupts = listenForInterrupts((text) => process.stderr.write(`self-heal ${text}\n`));
  using progress = showProgress();
  const drill = await runDrills({
    cwd: process.cwd(),
    env: process.env,
    signal: interrupts.signal,
    onProgress: progress.line,
    ...(config === undefined ? {} : { config }),
  });
  progress[Symbol.dispose]();
  if (drill === 'interrupted') {
    return interrupts.by() === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
  }
  if (!drill.ok) {
    if (json) print({ schemaVersion: 1, ok: false, problem: drill.error });
    return drill.error;
  }
  const ok = drill.value.results.every(({ held }) => held);
  if (json) print({ schemaVersion: 1, ok, ...documentOf(drill.value) });
  else process.stdout.write(drillText(drill.value, palette()));
  return ok ? exitCodes.green : exitCodes.usage;
}

function documentOf({ results, playwright, browser, durationMs, kept }: HeldDrill) {
  return { playwright, browser, durationMs: Math.round(durationMs), kept, drills: results };
}

function print(document: object): void {
  process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
}

function palette() {
  return (process.env['NO_COLOR'] ?? '') === '' ? new Chalk() : new Chalk({ level: 0 });
}

interface Progress extends Disposable {
  readonly line: (text: string) => void;
}

/** On a terminal one line that changes; elsewhere a line each. */
function showProgress(): Progress {
  const spinner = isLive(process.env, process.stderr.isTTY) ? ora({ discardStdin: false }).start() : null;
  return {
    line: (text) => {
      if (spinner) spinner.text = clipped(`drill: ${text}`, (process.stderr.columns ?? 100) - 4);
      else process.stderr.write(`self-heal drill: ${text}\n`);
    },
    [Symbol.dispose]: () => void spinner?.stop(),
  };
}
