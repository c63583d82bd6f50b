import type { Category, EvidenceSource, RetryAxis } from '../model/diagnosis.js';

/** The fields that all rules share. Rules are data; `match.ts` applies them. */
export interface Pattern {
  /** `family/what`, unique; printed with the diagnosis. */
  readonly id: string;
  /** Must not have the flags `g` or `y`. Its gaps must be bounded and must not cross lines, to keep matching linear in time. */
  readonly pattern: RegExp;
  /** A line that also matches this does not count. */
  readonly unless?: RegExp;
}

/** A pattern that indicates a class if it matches in certain sources. */
export interface Rule extends Pattern {
  readonly category: Category;
  readonly sources: readonly EvidenceSource[];
  /** Set if a match means that a request has no response; it does not count if the page got every response. */
  readonly unanswered?: true;
  /** How certain it is that a match shows the root cause: `certain`, `likely` or `weak`. */
  readonly confidence: number;
}

/** A pattern that shows which kind of repair a failure of certain classes needs. */
export interface RetryRule extends Pattern {
  readonly axis: Exclude<RetryAxis, 'code_error'>;
  readonly categories: readonly Category[];
}

/** A pattern of irrelevant lines, which are removed before any other rule is applied. */
export interface NoiseRule extends Pattern {
  readonly sources: readonly EvidenceSource[];
}

/** All sources but the page, whose text is content and not diagnostics. */
export const allButPage: readonly EvidenceSource[] = ['error', 'stack', 'console', 'network', 'server'];

/** A row of a rule table: the confidence, the pattern and, if it does not count everywhere, its restrictions. */
type Row = readonly [
  confidence: number,
  pattern: RegExp,
  more?: { readonly unless?: RegExp; readonly in?: readonly EvidenceSource[]; readonly unanswered?: true },
];

/** Creates the rules of a class. Of two equally certain rules for a line, the first counts. */
export function createRules(category: Category, rows: Readonly<Record<string, Row>>): readonly Rule[] {
  return Object.entries(rows).map(
    ([id, [confidence, pattern, { in: sources = allButPage, ...more } = {}]]) => ({
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
  /** The kind of repair that the fix needs, or null to let the built-in rules decide. */
  readonly retry: RetryAxis | null;
}

/** A project's additions to the built-in rules, and the rules that it turns off. */
export interface ProjectRules {
  readonly rules: readonly ProjectRule[];
  /** Sources of regular expressions for noise: a line that matches one is ignored. */
  readonly ignore: readonly string[];
  /** Ids of built-in rules that are turned off. */
  readonly off: readonly string[];
}

/** The rules of a project that changes nothing. */
export const noProjectRules: ProjectRules = { rules: [], ignore: [], off: [] };

const prefix = 'project/';

/** Returns the id of a project's rule as it appears in a diagnosis. */
export function createProjectRuleId(id: string): string {
  return `${prefix}${id}`;
}

/** True if a reason comes from a project's own rule; such reasons outrank all built-in ones. */
export function isProjectRule(rule: string): boolean {
  return rule.startsWith(prefix);
}
