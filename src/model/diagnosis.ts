import { z } from 'zod';
import { listOf, textOrNull } from './shape.js';

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

export const categoryShape = z.enum(categories);

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
const reasonShape = z.object({
  rule: z.string(),
  category: categoryShape,
  source: z.enum(evidenceSources),
  /** The matching line, at most 300 characters; of a long one, the part from the clause with the match on if that is far from its beginning. */
  evidence: z.string(),
  confidence: z.number(),
});
export type Reason = z.infer<typeof reasonShape>;

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
const factsShape = z.object({
  /** The error's own name (`TypeError`, `TimeoutError`), or `Error`. */
  errorType: z.string(),
  /** The first frame of the user's own code, relative to the project: `src/cart.ts:12:5`. */
  source: textOrNull,
  sql: textOrNull,
  sqlState: textOrNull,
  table: textOrNull,
  column: textOrNull,
  constraint: textOrNull,
  policy: textOrNull,
  /** The request that failed: `POST /api/orders → 500`. */
  endpoint: textOrNull,
  /** The locator that the failing step waited for. */
  locator: textOrNull,
});
export type Facts = z.infer<typeof factsShape>;

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
export const diagnosisShape = z.object({
  category: categoryShape,
  /** Other classes that the evidence allows, most likely first. */
  alternatives: listOf(categoryShape),
  confidence: z.number(),
  /** The deciding evidence, strongest first; empty only for `unknown`. */
  why: listOf(reasonShape),
  retry: z.enum(retryAxes),
  facts: factsShape,
  /** `Error type unknown, using default agent` if nothing matched (CS-6), else null. */
  warning: textOrNull,
  /** What a person can do about it, if only the machine can be mended, so that no agent can help (HL-7). */
  advice: z.string().exactOptional(),
});
export type Diagnosis = z.infer<typeof diagnosisShape>;
