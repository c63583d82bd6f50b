import type { Category, EvidenceSource, RetryAxis } from '../diagnosis.js';

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
