import prettyMs from 'pretty-ms';
import type { TestRef } from '../core/failure.js';
import { cut } from './cut.js';

/** A duration for people: `840ms`, `4.2s`, `3m 12s`. */
export function duration(ms: number): string {
  return prettyMs(Math.max(0, Math.round(ms)), ms < 60_000 ? {} : { secondsDecimalDigits: 0 });
}

/** US dollars for people: `$0.02`; a cent at least where anything was spent. */
export function dollars(costUsd: number): string {
  return `$${costUsd > 0 && costUsd < 0.01 ? costUsd.toFixed(4) : costUsd.toFixed(2)}`;
}

/** A test as Playwright's own list reporter names it: `[project] › file:line › titles`. */
export function testName({ project, titlePath, location }: TestRef): string {
  const [file = '', ...titles] = titlePath;
  const where = `${file}:${location.line}`;
  return [...(project ? [`[${project}]`] : []), where, ...titles].join(' › ').replaceAll(/\s+/g, ' ');
}

/** `1 test`, `2 tests`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** One line of at most `width` columns, cut with an ellipsis. */
export function clipped(text: string, width: number): string {
  return cut(text, width);
}

/** ` (run 4 of about 9, about 12 s)`: the place of a Playwright run in the plan; empty where nothing is planned. */
export function plannedText(run: { n?: number; of?: number | null; likelyMs?: number | null }): string {
  if (run.n === undefined || run.of == null) return '';
  const time = run.likelyMs == null ? '' : `, about ${duration(run.likelyMs)}`;
  return ` (run ${run.n} of about ${run.of}${time})`;
}
