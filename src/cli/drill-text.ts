import type { ChalkInstance } from 'chalk';
import type { DrillResult } from '../doctor/drill/facts.js';
import type { HeldDrill } from '../doctor/drill/run-drills.js';
import { counted, duration } from '../outputs/format.js';

/** One line a drill (what was planted, what self-heal did, what that proves), under it what is wrong, and a last line. */
export function drillText(held: HeldDrill, paint: ChalkInstance): string {
  const width = Math.max(...held.results.map(({ name }) => name.length));
  const lines = held.results.flatMap((one) => [
    `${mark(one, paint)} ${paint.bold(one.name.padEnd(width))}  ${one.planted} → ${one.did} ${paint.dim(`(${one.proves})`)}`,
    ...one.missed.map((point) => `  ${' '.repeat(width)}  ${paint.red(`→ ${point}`)}`),
  ]);
  return `${[...lines, '', ...lastLines(held)].join('\n')}\n`;
}

function mark({ held }: DrillResult, paint: ChalkInstance): string {
  return held ? paint.green('✓') : paint.red('✗');
}

function lastLines({ results, playwright, browser, durationMs, kept }: HeldDrill): string[] {
  const { browserName, channel } = browser;
  const name = channel === undefined ? browserName : `${browserName} (${channel})`;
  const where = `in ${duration(durationMs)}, with Playwright ${playwright} and ${name}; no model was asked`;
  const failed = results.filter(({ held }) => !held).length;
  if (failed === 0) return [`All ${counted(results.length, 'guard')} fired ${where}.`];
  return [
    `${failed} of ${counted(results.length, 'guard')} did not fire ${where}.`,
    ...(kept === null ? [] : [`The scratch copy was kept, with everything that was seen: ${kept}`]),
  ];
}
