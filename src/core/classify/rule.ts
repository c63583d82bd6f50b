import type { Category, EvidenceSource, RetryAxis } from '../diagnosis.js';

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
  /** From 0 to 1: how certain it is that this is the root cause. From `decisive` (0.7) on it decides; below that, it is a hint. */
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

/** A `Rule` as its file writes it: the file supplies the class, and `sources` defaults to `anywhere`. */
export type RuleOfClass = Omit<Rule, 'category' | 'sources'> & {
  readonly sources?: readonly EvidenceSource[];
};

/** The sources that hold program output. The page's text is not one of them: it is content, not diagnostics. */
export const anywhere: readonly EvidenceSource[] = ['error', 'stack', 'console', 'network', 'server'];

/** Creates rules for what the test saw of the page. Only the test's own error reports that, so other channels are not read. */
export function uiRules(rules: readonly RuleOfClass[]): readonly Rule[] {
  return rulesFor(
    'ui-error',
    rules.map((rule) => ({ ...rule, sources: ['error', 'stack'] })),
  );
}

/** Adds the class to the rules of a file. */
export function rulesFor(category: Category, rules: readonly RuleOfClass[]): readonly Rule[] {
  return rules.map((rule) => ({ sources: anywhere, ...rule, category }));
}

/** The confidence of a wrapper in the error itself: below that of rules that name the cause. */
const wrapperInError = 0.6;

/**
 * Splits a rule that says where something failed but not what (`Error occurred prerendering page`) into two. In other sources it
 * decides; in the error itself, a rule that recognizes the message around it says more.
 */
export function wrapping(rule: RuleOfClass): readonly RuleOfClass[] {
  const beside = (rule.sources ?? anywhere).filter((source) => source !== 'error');
  return [
    { ...rule, sources: beside },
    {
      ...rule,
      id: `${rule.id}-in-error`,
      sources: ['error'],
      confidence: Math.min(rule.confidence, wrapperInError),
    },
  ];
}
