import type { Category, EvidenceSource, RetryAxis } from '../model/diagnosis.js';

/** The fields that all rules share. Rules are data; only `match.ts` runs them. */
export interface Pattern {
  /** `family/what`, unique; printed with the diagnosis. */
  readonly id: string;
  /** Must not have the flags `g` or `y`. Its gaps are bounded and do not cross lines, so that matching takes linear time. */
  readonly pattern: RegExp;
  /** A matching line does not count if it matches this too. */
  readonly unless?: RegExp;
}

/** A pattern that indicates a class if it matches in certain sources. */
export interface Rule extends Pattern {
  readonly category: Category;
  readonly sources: readonly EvidenceSource[];
  /** Whether it means that a request is without an answer, so that it does not count if the page has every answer. */
  readonly unanswered?: true;
  /** How sure it is that this is the root cause: `certain`, `likely` or `weak`. */
  readonly confidence: number;
}

/** A pattern that tells what kind of repair a failure of certain classes needs. */
export interface RetryRule extends Pattern {
  readonly axis: Exclude<RetryAxis, 'code_error'>;
  readonly categories: readonly Category[];
}

/** A line that means nothing for the diagnosis; it is removed before any other rule is applied. */
export interface NoiseRule extends Pattern {
  readonly sources: readonly EvidenceSource[];
}

/** The sources that hold program output. The page's text is not one of them: it is content, not diagnostics. */
export const anywhere: readonly EvidenceSource[] = ['error', 'stack', 'console', 'network', 'server'];

/** A rule as its table writes it: how sure it is, the pattern and, if need be, where else or where only it counts. */
type Row = readonly [
  confidence: number,
  pattern: RegExp,
  more?: { readonly unless?: RegExp; readonly in?: readonly EvidenceSource[]; readonly unanswered?: true },
];

/** Creates the rules of a class. If two rules are equally sure of a line, the first counts. */
export function rulesFor(category: Category, rows: Readonly<Record<string, Row>>): readonly Rule[] {
  return Object.entries(rows).map(
    ([id, [confidence, pattern, { in: sources = anywhere, ...more } = {}]]) => ({
      id,
      category,
      pattern,
      sources,
      confidence,
      ...more,
    }),
  );
}

/** A project's own rule, as written in agents.yaml (CS-9). */
export interface ProjectRule {
  /** Unique; printed with the diagnosis as `project/<id>`. */
  readonly id: string;
  readonly category: Category;
  /** The source of a regular expression, tested against each channel with the flag `m`. */
  readonly pattern: string;
  readonly sources: readonly EvidenceSource[];
  /** What the fix needs, or null to leave it to the built-in rules. */
  readonly retry: RetryAxis | null;
}

/** What a project adds to the built-in rules, and what it removes from them. */
export interface ProjectRules {
  readonly rules: readonly ProjectRule[];
  /** Sources of regular expressions for noise: a line that matches one is ignored. */
  readonly ignore: readonly string[];
  /** Ids of built-in rules that are turned off. */
  readonly off: readonly string[];
}

/** A project that leaves the built-in rules as they are. */
export const noProjectRules: ProjectRules = { rules: [], ignore: [], off: [] };

const prefix = 'project/';

/** Returns the id of a project's rule as it appears in a diagnosis. */
export function projectRuleId(id: string): string {
  return `${prefix}${id}`;
}

/** Whether a reason comes from a project's own rule; such reasons outrank all built-in ones. */
export function isProjectRule(rule: string): boolean {
  return rule.startsWith(prefix);
}
