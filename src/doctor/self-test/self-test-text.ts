import type { ChalkInstance } from 'chalk';
import type { ScenarioResult } from './facts.js';
import type { SelfTest } from './run-self-test.js';
import { counted, duration } from '../../outputs/format.js';

/** One line for each scenario (what was planted, what self-heal did, what that proves), under it what is wrong, and a last line. */
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
