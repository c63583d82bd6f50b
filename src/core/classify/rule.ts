import type { Category, EvidenceSource, RetryAxis } from '../diagnosis.js';

/** What every rule has: where it looks, and for what. Rules are data; `matchPattern` alone runs them. */
export interface Pattern {
  /** `family/what`, unique. It is printed with the diagnosis. */
  readonly id: string;
  /** Without the flags `g` and `y`. Its gaps are bounded and do not cross lines, so that it takes linear time. */
  readonly pattern: RegExp;
  /** A line that matches this as well does not count. */
  readonly unless?: RegExp;
}

/** Says that a text in certain evidence speaks for a class. */
export interface Rule extends Pattern {
  readonly category: Category;
  readonly sources: readonly EvidenceSource[];
  /** From 0 to 1: how sure it is that this is the root cause. From 0.7 on it decides, below it merely hints. */
  readonly confidence: number;
}

/** Says what kind of repair a text asks for, in failures of certain classes. */
export interface RetryRule extends Pattern {
  readonly axis: Exclude<RetryAxis, 'code_error'>;
  readonly categories: readonly Category[];
}

/** Says that a line decides nothing; such lines are dropped before any rule sees them. */
export interface NoiseRule extends Pattern {
  readonly sources: readonly EvidenceSource[];
}

/** A `Rule` as its file writes it: the class is the file's, the sources are `anywhere` unless it says otherwise. */
export type RuleOfClass = Omit<Rule, 'category' | 'sources'> & {
  readonly sources?: readonly EvidenceSource[];
};

/** Where a program's own words may stand. The page's text is not among them: it is content, not diagnostics. */
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

/** How sure a wrapper is where it stands in the error itself: less than whoever names the cause. */
const wrapperInError = 0.6;

/**
 * Makes two rules of one that says in whose hands something failed, not what failed (`Error occurred prerendering page`). Beside
 * an error it is the cause; in the error's own text whoever knows the words around it says more.
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
