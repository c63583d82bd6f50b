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

/** A file of an agent's change that does not enter the project: it belongs to the tests, or it is protected. The rest of the change is tried. */
export interface Cut {
  /** Relative to the recorded root, with `/`. */
  readonly file: string;
  /** Why it is cut, as a sentence without its period. */
  readonly why: string;
}

/** Formats what was cut as one line. */
export function cutLine({ file, why }: Cut): string {
  return `${file}: ${why}`;
}

/** What is cut in every class of failure, in words for prompts. */
export const protectedNames =
  'the Playwright config, snapshots, all but dependencies in package.json, lock files whose manifest stays, values of .env files without a sample, agents.yaml, .self-heal/, and what CI, installs, git, shells, editors or agents execute';

/** Something a reviewer should look at in a change that was not rejected: nothing proves it wrong. */
export interface Note {
  /** Relative to the recorded root, with `/`. */
  readonly file: string;
  /** Counted from 1; null if it does not belong to a line. */
  readonly line: number | null;
  /** A sentence without its period. */
  readonly says: string;
}

/** Formats a note as one line: its place and what it says. */
export function noteLine({ file, line, says }: Note): string {
  return `${file}${line === null ? '' : `:${line}`} ${says}`;
}
