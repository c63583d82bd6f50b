import type { Value } from './test-values.js';

/** How much a decision looks at: nothing, only whether there is something, or what it is. */
export type Weight = 0 | 1 | 2;

/** Something in an app that decides: a condition, a guard that is called, a refusal, a choice between values. */
export interface Decision {
  /** Equal for equal decisions, whether they are written as a guard clause or around what they guard. */
  readonly text: string;
  /** Null for what only chooses a value, and checks nothing. */
  readonly weight: Weight | null;
  /** Whether something is not done because of it; a condition under which something is only logged stops nothing. */
  readonly stops: boolean;
  /** What it is about: the names in it, in lower case and without underscores. */
  readonly names: ReadonlySet<string>;
  /** The constants that it compares with. */
  readonly compared: readonly Value[];
  /** The constants between which it chooses. */
  readonly chosen: readonly Value[];
  /** The numbers among both that are written as such, not computed with. */
  readonly numbers: readonly number[];
  readonly file: string;
  readonly line: number;
  /** The line in which it begins. */
  readonly source: string;
}

/** Where something is in an app, with the text of the line in which it begins. */
export type Location = Pick<Decision, 'file' | 'line' | 'source'>;

export const plainName = (name: string) => name.toLowerCase().replaceAll('_', '');

/** Whether a constant is the status of an answer that refuses. */
export const isRefusal = (status: unknown) => typeof status === 'number' && status >= 400 && status < 600;
