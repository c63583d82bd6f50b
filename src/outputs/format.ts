import prettyMs from 'pretty-ms';
import type { TestRef } from '../core/failure.js';

/** Formats a duration: `840ms`, `4.2s`, `3m 12s`. */
export function duration(ms: number): string {
  return prettyMs(Math.max(0, Math.round(ms)), ms < 60_000 ? {} : { secondsDecimalDigits: 0 });
}

/** Formats US dollars: `$0.02`, with more digits for amounts below a cent. */
export function dollars(costUsd: number): string {
  return `$${costUsd > 0 && costUsd < 0.01 ? costUsd.toFixed(4) : costUsd.toFixed(2)}`;
}

/** Formats a test's name like Playwright's own list reporter: `[project] › file:line › titles`. */
export function testName({ project, titlePath, location }: TestRef): string {
  const [file = '', ...titles] = titlePath;
  const where = `${file}:${location.line}`;
  return [...(project ? [`[${project}]`] : []), where, ...titles].join(' › ').replaceAll(/\s+/g, ' ');
}

/** `1 test`, `2 tests`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** Formats the place of a Playwright run in the plan: ` (run 4 of about 9, about 12 s)`; empty if nothing is planned. */
export function plannedText(run: { n?: number; of?: number | null; likelyMs?: number | null }): string {
  if (run.n === undefined || run.of == null) return '';
  const time = run.likelyMs == null ? '' : `, about ${duration(run.likelyMs)}`;
  return ` (run ${run.n} of about ${run.of}${time})`;
}
