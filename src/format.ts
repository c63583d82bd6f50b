import prettyMs from 'pretty-ms';

/** Formats a duration: `840ms`, `4.2s`, `3m 12s`. */
export function duration(ms: number): string {
  return prettyMs(Math.max(0, Math.round(ms)), ms < 60_000 ? {} : { secondsDecimalDigits: 0 });
}

/** Formats US dollars: `$0.02`, with more digits for amounts below a cent. */
export function dollars(costUsd: number): string {
  return `$${costUsd > 0 && costUsd < 0.01 ? costUsd.toFixed(4) : costUsd.toFixed(2)}`;
}

/** Returns the first `max` items and, if there are more, one item that `summarize` makes from the number of the others. */
export function atMost<T>(items: readonly T[], max: number, summarize: (hidden: number) => T): T[] {
  const hidden = items.length - max;
  return hidden > 0 ? [...items.slice(0, max), summarize(hidden)] : [...items];
}

/** Formats a number with its noun: `1 test`, `2 tests`. */
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
  const pad = (part: number) => String(part).padStart(2, '0');
  const day = [time.getFullYear(), pad(time.getMonth() + 1), pad(time.getDate())].join('-');
  return `${day} ${pad(time.getHours())}:${pad(time.getMinutes())}`;
}

/** Shortens a text to `max` characters; an ellipsis replaces its end. */
export function clip(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
