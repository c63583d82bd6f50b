import type { Category, EvidenceSource, RetryAxis } from '../diagnosis.js';

/** A rule of the project's own, as agents.yaml writes it (CS-9). */
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

/** What a project adds to the built-in rules, and what it takes out of them. */
export interface ProjectRules {
  readonly rules: readonly ProjectRule[];
  /** Sources of regular expressions: a line that matches one decides nothing. */
  readonly ignore: readonly string[];
  /** Ids of built-in rules that do not hold here. */
  readonly off: readonly string[];
}

/** A project that leaves the built-in rules as they are. */
export const noProjectRules: ProjectRules = { rules: [], ignore: [], off: [] };

const prefix = 'project/';

/** The id of a project's rule as a diagnosis names it. */
export function projectRuleId(id: string): string {
  return `${prefix}${id}`;
}

/** Whether a reason comes from a rule of the project, which outranks every built-in one. */
export function isProjectRule(rule: string): boolean {
  return rule.startsWith(prefix);
}
