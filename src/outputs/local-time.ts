/** The day of an ISO 8601 time where the reader is: `2026-11-22`. */
export function localDay(iso: string): string {
  return localTime(iso).slice(0, 10);
}

/** An ISO 8601 time where the reader is, to the minute: `2026-11-22 15:04`; a text that is none stays as it is. */
export function localTime(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  const two = (part: number) => String(part).padStart(2, '0');
  const day = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join('-');
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}
