/** The classes of failure, more specific ones first: if several apply, the earlier wins unless the evidence says otherwise. */
export const categories = [
  'build-error',
  'database-error',
  'runtime-error',
  'network-error',
  'ui-error',
  'unknown',
  /** Red and green on the same code, as runs have shown: no rule finds it. */
  'flaky',
] as const;

/** A class of failure, which determines the responsible agent. */
export type Category = (typeof categories)[number];

/** What kind of repair a failure needs, and therefore whether trying again can help (CS-11). */
export type RetryAxis = (typeof retryAxes)[number];

/** The retry axes, in the order in which they are checked. */
export const retryAxes = ['never_retry', 'env_error', 'code_error'] as const;

/** Where a piece of evidence was found. */
export type EvidenceSource = (typeof evidenceSources)[number];

/** The channels of the evidence that rules read. */
export const evidenceSources = ['error', 'stack', 'console', 'network', 'server', 'page'] as const;

/** Why a class was chosen: the rule, where it matched, the text it matched, and the rule's confidence (0 to 1). */
export interface Reason {
  readonly rule: string;
  readonly category: Category;
  readonly source: EvidenceSource;
  /** The matching line, at most 300 characters; of a long one, the part from the clause with the match on if that is far from its beginning. */
  readonly evidence: string;
  readonly confidence: number;
}

/** Returns the text of a reason's evidence as its source contains it: without the mark that the beginning of the line is left out. */
export function asPrinted(evidence: string): string {
  return evidence.replace(/^…/, '');
}

/** A message that means one thing. */
export const certain = 0.95;
/** Decides unless something certain, or something deeper, is there. */
export const likely = 0.8;
/** A hint: it decides only where nothing else does. */
export const weak = 0.5;

/** Whether a reason with this confidence decides, or is only a hint. */
export function isDecisive(confidence: number): boolean {
  return confidence >= likely;
}

/** Returns a confidence in words. */
export function howSure(confidence: number): string {
  return confidence >= certain ? 'certain' : confidence >= likely ? 'likely' : 'a hint';
}

/** What the evidence names explicitly; null for what it does not name. */
export interface Facts {
  /** The error's own name (`TypeError`, `TimeoutError`), or `Error`. */
  readonly errorType: string;
  /** The first frame of the user's own code, relative to the project: `src/cart.ts:12:5`. */
  readonly source: string | null;
  readonly sql: string | null;
  readonly sqlState: string | null;
  readonly table: string | null;
  readonly column: string | null;
  readonly constraint: string | null;
  readonly policy: string | null;
  /** The request that failed: `POST /api/orders → 500`. */
  readonly endpoint: string | null;
  /** The locator that the failing step waited for. */
  readonly locator: string | null;
}

/** Formats a reason as one line. */
export function reasonLine({ rule, source, confidence, evidence }: Reason): string {
  return `${rule} in ${source}, ${howSure(confidence)}: ${evidence}`;
}

/** Formats the facts that the evidence names, one line each. */
export function factLines(facts: Partial<Facts>): string[] {
  return Object.entries(facts).flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]));
}

/** Removes the column from a position: `src/cart.ts:12` for `src/cart.ts:12:5`. */
export function withoutColumn(source: string): string {
  return source.replace(/(:\d+):\d+$/, '$1');
}

/** What a failure is, why, and what else it may be. */
export interface Diagnosis {
  readonly category: Category;
  /** Other classes that the evidence allows, most likely first. */
  readonly alternatives: readonly Category[];
  readonly confidence: number;
  /** The deciding evidence, strongest first; empty only for `unknown`. */
  readonly why: readonly Reason[];
  readonly retry: RetryAxis;
  readonly facts: Facts;
  /** `Error type unknown, using default agent` if nothing matched (CS-6), else null. */
  readonly warning: string | null;
  /** What a person can do about it, if only the machine can be mended, so that no agent can help (HL-7). */
  readonly advice?: string;
}
