import process from 'node:process';
import ora from 'ora';
import type { ChalkInstance } from 'chalk';
import { runSelfTest, type SelfTest } from '../doctor/self-test/run-self-test.js';
import { exitCodeOfSignal, exitCodes } from '../core/exit-codes.js';
import type { Problem } from '../problem.js';
import { cut } from '../outputs/cut.js';
import { counted, duration } from '../outputs/format.js';
import { listenForInterrupts } from '../process/interrupts.js';
import { isLive } from '../outputs/is-live.js';
import { print } from './end.js';
import { paletteForData } from '../outputs/palette.js';
import type { ScenarioResult } from '../doctor/self-test/judge-scenarios.js';

/** The flags of `self-heal doctor --self-test`. */
export interface SelfTestOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** Runs `self-heal doctor --self-test`; returns the exit code, or the problem that prevented the self-test (CL-11). */
export async function doctorSelfTest({ config, json }: SelfTestOptions): Promise<number | Problem> {
  using interrupts = listenForInterrupts((text) => process.stderr.write(`self-heal ${text}\n`));
  using progress = showProgress();
  const selfTest = await runSelfTest({
    cwd: process.cwd(),
    env: process.env,
    signal: interrupts.signal,
    onProgress: progress.line,
    ...(config === undefined ? {} : { config }),
  });
  progress[Symbol.dispose]();
  if (selfTest === 'interrupted') return exitCodeOfSignal(interrupts.by() ?? 'SIGTERM');
  if (!selfTest.ok) {
    if (json) print({ schemaVersion: 1, ok: false, problem: selfTest.error });
    return selfTest.error;
  }
  const ok = selfTest.value.results.every(({ held }) => held);
  if (json) print({ schemaVersion: 1, ok, ...documentOf(selfTest.value) });
  else print(selfTestText(selfTest.value, paletteForData(process.env)));
  return ok ? exitCodes.green : exitCodes.usage;
}

function documentOf({ results, playwright, browser, durationMs, kept }: SelfTest) {
  return { playwright, browser, durationMs: Math.round(durationMs), kept, scenarios: results };
}

interface Progress extends Disposable {
  readonly line: (text: string) => void;
}

/** Shows one changing line on a terminal, and separate lines elsewhere. */
function showProgress(): Progress {
  const spinner = isLive(process.env, process.stderr) ? ora({ discardStdin: false }).start() : null;
  return {
    line: (text) => {
      if (spinner) spinner.text = cut(`self-test: ${text}`, (process.stderr.columns ?? 100) - 4);
      else process.stderr.write(`self-heal self-test: ${text}\n`);
    },
    [Symbol.dispose]: () => void spinner?.stop(),
  };
}

/** Renders one line per scenario (what was planted, what self-heal did, what that proves), what went wrong below it, and a summary. */
export function selfTestText(held: SelfTest, paint: ChalkInstance): string {
  const width = Math.max(...held.results.map(({ name }) => name.length));
  const lines = held.results.flatMap((one) => [
    `${mark(one, paint)} ${paint.bold(one.name.padEnd(width))}  ${one.planted} → ${one.did} ${paint.dim(`(${one.proves})`)}`,
    ...one.missed.map((point) => `  ${' '.repeat(width)}  ${paint.red(`→ ${point}`)}`),
  ]);
  return [...lines, '', ...lastLines(held)].join('\n');
}

function mark({ held }: ScenarioResult, paint: ChalkInstance): string {
  return held ? paint.green('✓') : paint.red('✗');
}

function lastLines({ results, playwright, browser, durationMs, kept }: SelfTest): string[] {
  const { browserName, channel } = browser;
  const name = channel === undefined ? browserName : `${browserName} (${channel})`;
  const where = `in ${duration(durationMs)}, with Playwright ${playwright} and ${name}; no model was called`;
  const failed = results.filter(({ held }) => !held).length;
  if (failed === 0) return [`All ${counted(results.length, 'guard')} fired ${where}.`];
  return [
    `${failed} of ${counted(results.length, 'guard')} did not fire ${where}.`,
    ...(kept === null ? [] : [`The scratch copy was kept, with everything that was recorded: ${kept}`]),
  ];
}
