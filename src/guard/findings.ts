import type { Cut, Violation, Note } from '../core/guard-findings.js';
import type { OtherInput } from './other-input.js';

/** How much a test checks, compared with what it checked before. */
export type Strength = 'weaker' | 'different' | 'stronger' | 'new';

/** A place where a test does something else than before. What it did and does is printed in canonical form, step by step. */
export interface TestDifference {
  /** The titles of the test, or the name of the fixture or helper, as it is shown. */
  readonly test: string;
  readonly file: string;
  /** Counted from 1, in the changed file, or in the old one if steps were removed. */
  readonly line: number;
  readonly strength: Strength;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** A locator that was replaced in an otherwise unchanged step. Whether that is right is judged by the page. */
export interface LocatorChange {
  /** Both as Playwright would write them, from the page: `getByRole("button", { name: "Buy" })`. */
  readonly old: string;
  readonly now: string;
  readonly file: string;
  /** Of the step in the changed file, counted from 1. */
  readonly line: number;
  /** The step with `‹locator›` for each of its locators, such as `await expect(‹locator›).toHaveCount(3)`. */
  readonly step: string;
}

export interface Findings {
  /** What is left out; the rest of the change is tried. */
  readonly cut: readonly Cut[];
  /** What the tests do differently, beyond what a fix may change in them. */
  readonly differences: readonly TestDifference[];
  readonly locatorChanges: readonly LocatorChange[];
  /** What no honest fix contains, or what cannot be judged. */
  readonly violations: readonly Violation[];
  readonly notes: readonly Note[];
  /** What the healed tests type; null if they type nothing, or the fix is not in the app. */
  readonly otherInput: OtherInput | null;
}

export const harmless: Findings = {
  cut: [],
  differences: [],
  locatorChanges: [],
  violations: [],
  notes: [],
  otherInput: null,
};
