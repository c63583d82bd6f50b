import { z } from 'zod';
import { listOf, textOrNull } from './shape.js';

/** The classes of failure, from specific to general. If several apply, the earlier one wins unless the evidence says otherwise. */
export const categories = [
  'build-error',
  'database-error',
  'runtime-error',
  'network-error',
  'ui-error',
  'unknown',
  /** Red and green on the same code; runs show it, not rules. */
  'flaky',
] as const;

export const categoryShape = z.enum(categories);

/** A class of failure, which determines the responsible agent. */
export type Category = (typeof categories)[number];

/** The kind of repair that a failure needs, which decides whether another try can help (CS-11). */
export type RetryAxis = (typeof retryAxes)[number];

/** The retry axes, in the order in which they are checked. */
export const retryAxes = ['never_retry', 'env_error', 'code_error'] as const;

/** The source of a piece of evidence. */
export type EvidenceSource = (typeof evidenceSources)[number];

/** The sources of evidence that rules read. */
export const evidenceSources = ['error', 'stack', 'console', 'network', 'server', 'page'] as const;

/** Why a class was chosen: the rule, where it matched, the text it matched, and the rule's confidence (0 to 1). */
const reasonShape = z.object({
  rule: z.string(),
  category: categoryShape,
  source: z.enum(evidenceSources),
  /** The matching line, at most 300 characters; a long line with a late match begins with the clause of the match. */
  evidence: z.string(),
  confidence: z.number(),
});
export type Reason = z.infer<typeof reasonShape>;

/** Removes the mark of an omitted beginning from a reason's evidence, to find it in its source. */
export function removeEllipsis(evidence: string): string {
  return evidence.replace(/^…/, '');
}

/** The confidence of an unambiguous message. */
export const certain = 0.95;
/** Decides unless there is a certain or a deeper reason. */
export const likely = 0.8;
/** A hint: decides only if no other reason does. */
export const weak = 0.5;

/** True if a reason with this confidence decides; otherwise it is only a hint. */
export function isDecisive(confidence: number): boolean {
  return confidence >= likely;
}

/** Describes a confidence in words. */
export function describeConfidence(confidence: number): string {
  return confidence >= certain ? 'certain' : confidence >= likely ? 'likely' : 'a hint';
}

/** Facts that the evidence names explicitly; missing ones are null. */
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
export function formatReason({ rule, source, confidence, evidence }: Reason): string {
  return `${rule} in ${source}, ${describeConfidence(confidence)}: ${evidence}`;
}

/** Formats these facts, one line each. */
export function formatFacts(facts: Partial<Facts>): string[] {
  return Object.entries(facts).flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]));
}

/** Removes the column from a position: `src/cart.ts:12` for `src/cart.ts:12:5`. */
export function removeColumn(source: string): string {
  return source.replace(/(:\d+):\d+$/, '$1');
}

/** The class of a failure, its reasons, and the alternatives. */
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
  /** Advice for a person, if the machine needs a change and no agent can help (HL-7). */
  advice: z.string().exactOptional(),
});
export type Diagnosis = z.infer<typeof diagnosisShape>;
