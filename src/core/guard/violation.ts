/** One way in which an agent's change weakens the tests or reaches for what is not its own (HN-3, HN-4). */
export interface Violation {
  /** Kebab-case name of the rule: `assertion-removed`, `protected-file` … */
  readonly rule: string;
  /** Relative to the recorded root, with `/`. */
  readonly file: string;
  /** From 1, in the changed file, or in the old one for what was removed; null where no line says it. */
  readonly line: number | null;
  /** The source line before, or null for what was added. */
  readonly before: string | null;
  /** The source line after, or null for what was removed. */
  readonly after: string | null;
  /** What is wrong with it, in a sentence without its full stop, for the agent and the report. */
  readonly says: string;
}

/** A violation in one line: place, rule and what it says. */
export function violationLine({ file, line, rule, says }: Violation): string {
  return `${file}${line === null ? '' : `:${line}`} ${rule}: ${says}`;
}
