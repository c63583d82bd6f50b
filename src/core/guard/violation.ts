/** One way in which an agent's change does what is honest in no fix (HN-3). */
export interface Violation {
  /** Kebab-case name of the rule: `app-detects-tests`, `input-hard-coded` … */
  readonly rule: string;
  /** Relative to the recorded root, with `/`. */
  readonly file: string;
  /** Counted from 1, in the changed file, or in the old file if lines were removed; null if it does not belong to a line. */
  readonly line: number | null;
  /** The source line before the change, or null if it was added. */
  readonly before: string | null;
  /** The source line after the change, or null if it was removed. */
  readonly after: string | null;
  /** What is wrong with it, as a sentence without its period, for the agent and the report. */
  readonly says: string;
}

/** Formats a violation as one line: place, rule and what it says. */
export function violationLine({
  file,
  line,
  rule,
  says,
}: Pick<Violation, 'file' | 'line' | 'rule' | 'says'>): string {
  return `${file}${line === null ? '' : `:${line}`} ${rule}: ${says}`;
}
