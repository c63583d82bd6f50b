import prettyMs from 'pretty-ms';

/** Formats a duration: `840ms`, `4.2s`, `3m 12s`. */
export function duration(ms: number): string {
  return prettyMs(Math.max(0, Math.round(ms)), ms < 60_000 ? {} : { secondsDecimalDigits: 0 });
}

/** Formats US dollars: `$0.02`, with more digits for amounts below a cent. */
export function dollars(costUsd: number): string {
  return `$${costUsd > 0 && costUsd < 0.01 ? costUsd.toFixed(4) : costUsd.toFixed(2)}`;
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
