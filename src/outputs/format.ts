import prettyMs from 'pretty-ms';
import type { TestRef } from '../core/failure.js';
import type { ReportAttempt, ReportTest } from '../run/report.js';

/** Formats a duration: `840ms`, `4.2s`, `3m 12s`. */
export function duration(ms: number): string {
  return prettyMs(Math.max(0, Math.round(ms)), ms < 60_000 ? {} : { secondsDecimalDigits: 0 });
}

/** Formats US dollars: `$0.02`, with more digits for amounts below a cent. */
export function dollars(costUsd: number): string {
  return `$${costUsd > 0 && costUsd < 0.01 ? costUsd.toFixed(4) : costUsd.toFixed(2)}`;
}

/** Formats a cost that follows something else: `, $0.02`; empty if it is not known. */
export function costText({ costUsd }: { readonly costUsd: number | null }): string {
  return costUsd ? `, ${dollars(costUsd)}` : '';
}

/** Formats a test's name like Playwright's own list reporter: `[project] › file:line › titles`. */
export function testName({ project, titlePath, location }: TestRef): string {
  const [file = ''] = titlePath;
  return nameOf({ project, file, line: location.line, title: titlePath }).replaceAll(/\s+/g, ' ');
}

/** Formats the name of a test of the report in the same way. */
export function nameOf({
  project,
  file,
  line,
  title,
}: Pick<ReportTest, 'project' | 'file' | 'line' | 'title'>): string {
  return [...(project ? [`[${project}]`] : []), `${file}:${line}`, ...title.slice(1)].join(' › ');
}

/** Formats a changed file: `src/cart.ts +3 −1`. */
export function fileText({ path, added, removed }: ReportAttempt['files'][number]): string {
  return added === null || removed === null ? `${path} (binary)` : `${path} +${added} −${removed}`;
}

/** Returns the first `most` items and, if there are others, what `rest` says about their number. */
export function atMost<T>(items: readonly T[], most: number, rest: (hidden: number) => T): T[] {
  const hidden = items.length - most;
  return hidden > 0 ? [...items.slice(0, most), rest(hidden)] : [...items];
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

/** Formats the day of an ISO 8601 time in the local time zone: `2026-11-22`. */
export function localDay(iso: string): string {
  return localTime(iso).slice(0, 10);
}

/** Formats an ISO 8601 time in the local time zone, to the minute: `2026-11-22 15:04`; any other text is returned unchanged. */
export function localTime(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  const two = (part: number) => String(part).padStart(2, '0');
  const day = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join('-');
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}
