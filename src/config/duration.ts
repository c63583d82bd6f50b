/** The syntax of a duration: whole hours, minutes, seconds and milliseconds, the longest unit first. */
export const durationPattern = /^(?=\d)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;

export const durationExamples = ['5m', '90s', '1h30m', '500ms'] as const;

/** The longest duration, in milliseconds: `setTimeout` accepts at most 2^31-1, and fires at once beyond it. */
export const MAX_DURATION_MS = 24 * 24 * 3_600_000;

const msPerUnit = [3_600_000, 60_000, 1_000, 1] as const;

/** Parses a duration such as `1h30m` to milliseconds; returns null if it is invalid. */
export function parseDuration(text: string): number | null {
  const parts = durationPattern.exec(text)?.slice(1);
  if (!parts) return null;
  return msPerUnit.reduce((sum, ms, index) => sum + Number(parts[index] ?? 0) * ms, 0);
}

/** Explains what is wrong with a duration, as the end of a sentence: `needs a unit: write 300s or 300m`. */
export function explainDurationMistake(value: unknown): string {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) {
    return `needs a unit: write ${value}s or ${value}m`;
  }
  const suggestion = typeof value === 'string' ? suggestDuration(value) : null;
  const hint = suggestion === null ? '' : `; did you mean "${suggestion}"?`;
  return `must be a duration such as ${durationExamples.join(', ')}${hint}`;
}

/** Rewrites `5 minutes` as `5m`; returns null if the text does not look like a duration. */
function suggestDuration(text: string): string | null {
  const short = text.replaceAll(
    /\s*(\d+)\s*(ms|[hms])(?!il)[a-z]*,?\s*/gi,
    (_, amount, unit) => `${amount}${unit}`,
  );
  return durationPattern.test(short.toLowerCase()) ? short.toLowerCase() : null;
}
