import process from 'node:process';
import type { ChalkInstance } from 'chalk';
import ora from 'ora';
import type { Check } from '../doctor/check.js';
import { examine } from '../doctor/examine.js';
import { runSelfTest, type SelfTest } from '../doctor/self-test/run-self-test.js';
import { exitCodeOfSignal, exitCodes } from '../core/exit-codes.js';
import type { Problem } from '../problem.js';
import { configJson, configYaml } from '../config/config-text.js';
import { effectiveSettings } from '../config/effective-settings.js';
import { loadLayers } from '../config/load-settings.js';
import { cut } from '../outputs/cut.js';
import { counted, duration } from '../outputs/format.js';
import { isLive } from '../outputs/is-live.js';
import { paletteForData } from '../outputs/palette.js';
import { listenForInterrupts } from '../process/interrupts.js';
import { print } from './end.js';

/** The flags of `self-heal doctor`. */
export interface DoctorOptions {
  agents?: string;
  config?: string;
  json?: boolean;
  selfTest?: boolean;
  /** Also print the settings in force. */
  verbose?: boolean;
}

/** Runs `self-heal doctor`; returns the exit code, or the problem that prevented the self-test (CL-11). */
export async function runDoctor(options: DoctorOptions): Promise<number | Problem> {
  if (options.selfTest) return doctorSelfTest(options);
  const { agents, config, json, verbose } = options;
  const checks = await examine({
    cwd: process.cwd(),
    env: process.env,
    nodeVersion: process.versions.node,
    agents,
    config,
  });
  const ok = checks.every(({ state }) => state !== 'failed');
  const layers = verbose ? await loadLayers({ cwd: process.cwd(), env: process.env, file: agents }) : null;
  const settings = layers?.ok ? effectiveSettings(layers.value) : null;
  const text = doctorText(checks, paletteForData(process.env));
  if (json) print({ schemaVersion: 1, ok, checks, ...(settings && { settings: configJson(settings) }) });
  else print(settings === null ? text : `${text}\n\n${configYaml(settings)}`);
  return ok ? exitCodes.green : exitCodes.usage;
}

/** Renders one line per check, and what to do below each that did not pass. */
export function doctorText(checks: readonly Check[], paint: ChalkInstance): string {
  const failed = checks.filter(({ state }) => state === 'failed').length;
  const what = failed === 1 ? 'One check fails' : `${failed} checks fail`;
  const last = failed > 0 ? `${what}: a run would not work.` : 'A run can work.';
  return [...checkLines(checks, paint), '', last].join('\n');
}

function checkLines(checks: readonly Check[], paint: ChalkInstance): string[] {
  const marks = { ok: paint.green('✓'), warning: paint.magenta('!'), failed: paint.red('✗') };
  const width = Math.max(...checks.map(({ name }) => name.length));
  return checks.flatMap(({ name, state, found, remedy }) => [
    `${marks[state]} ${name.padEnd(width)}  ${found.replaceAll('\n', '\n    ')}`,
    ...(remedy === null ? [] : [`  ${' '.repeat(width)}  → ${remedy}`]),
  ]);
}

async function doctorSelfTest({ config, json }: DoctorOptions): Promise<number | Problem> {
  using interrupts = listenForInterrupts((text) => process.stderr.write(`self-heal ${text}\n`));
  // One changing line on a terminal, and separate lines elsewhere.
  const spinner = isLive(process.env, process.stderr) ? ora({ discardStdin: false }).start() : null;
  const selfTest = await runSelfTest({
    cwd: process.cwd(),
    env: process.env,
    signal: interrupts.signal,
    onProgress: (text) => {
      if (spinner) spinner.text = cut(`self-test: ${text}`, (process.stderr.columns ?? 100) - 4);
      else process.stderr.write(`self-heal self-test: ${text}\n`);
    },
    ...(config === undefined ? {} : { config }),
  }).finally(() => void spinner?.stop());
  if (selfTest === 'interrupted') return exitCodeOfSignal(interrupts.by() ?? 'SIGTERM');
  if (!selfTest.ok) {
    if (json) print({ schemaVersion: 1, ok: false, problem: selfTest.error });
    return selfTest.error;
  }
  const { results: scenarios, playwright, browser, durationMs, kept } = selfTest.value;
  const ok = scenarios.every(({ held }) => held);
  const found = { playwright, browser, durationMs: Math.round(durationMs), kept, scenarios };
  print(
    json ? { schemaVersion: 1, ok, ...found } : selfTestText(selfTest.value, paletteForData(process.env)),
  );
  return ok ? exitCodes.green : exitCodes.usage;
}

/** Renders one line per scenario (what was planted, what self-heal did, what that proves), what went wrong below it, and a summary. */
export function selfTestText(selfTest: SelfTest, paint: ChalkInstance): string {
  const checks = selfTest.results.map(({ name, planted, did, proves, held, missed }): Check => ({
    name,
    state: held ? 'ok' : 'failed',
    found: `${planted} → ${did} ${paint.dim(`(${proves})`)}`,
    remedy: held ? null : missed.join('; '),
  }));
  return [...checkLines(checks, paint), '', ...lastLines(selfTest)].join('\n');
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
