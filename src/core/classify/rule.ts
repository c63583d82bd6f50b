import type { Category, EvidenceSource, RetryAxis } from '../diagnosis.js';

/** What every rule has. Rules are data; only `match.ts` runs them. */
export interface Pattern {
  /** `family/what`, unique. It is printed with the diagnosis. */
  readonly id: string;
  /** Without the flags `g` and `y`. Its gaps are bounded and do not cross lines, so that it takes linear time. */
  readonly pattern: RegExp;
  /** A matching line does not count if it matches this too. */
  readonly unless?: RegExp;
}

/** A text in certain sources indicates a class. */
export interface Rule extends Pattern {
  readonly category: Category;
  readonly sources: readonly EvidenceSource[];
  /** From 0 to 1: how sure it is that this is the root cause. From `decisive` (0.7) on it decides; below, it is a hint. */
  readonly confidence: number;
}

/** A text tells what kind of repair failures of certain classes need. */
export interface RetryRule extends Pattern {
  readonly axis: Exclude<RetryAxis, 'code_error'>;
  readonly categories: readonly Category[];
}

/** A line that decides nothing; it is removed before any other rule is applied. */
export interface NoiseRule extends Pattern {
  readonly sources: readonly EvidenceSource[];
}

/** A `Rule` as its file writes it: the class is the file's, the sources are `anywhere` unless it says otherwise. */
export type RuleOfClass = Omit<Rule, 'category' | 'sources'> & {
  readonly sources?: readonly EvidenceSource[];
};

/** The sources with output of programs. The page's text is not among them: it is content, not diagnostics. */
export const anywhere: readonly EvidenceSource[] = ['error', 'stack', 'console', 'network', 'server'];

/** Rules for what the test saw of the page: only the test's own error says that, so its other channels are not read. */
export function uiRules(rules: readonly RuleOfClass[]): readonly Rule[] {
  return rulesFor(
    'ui-error',
    rules.map((rule) => ({ ...rule, sources: ['error', 'stack'] })),
  );
}

/** Gives the rules of a file their class. */
export function rulesFor(category: Category, rules: readonly RuleOfClass[]): readonly Rule[] {
  return rules.map((rule) => ({ sources: anywhere, ...rule, category }));
}

/** The confidence of a wrapper in the error itself: below that of rules that name the cause. */
const wrapperInError = 0.6;

/**
 * Makes two rules of one that says where something failed, not what (`Error occurred prerendering page`). In other sources it
 * decides; in the error itself a rule that knows the message around it says more.
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
