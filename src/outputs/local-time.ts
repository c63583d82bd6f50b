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
