import type { Cut, Violation } from '../model/guard-findings.js';

/** How much a test checks, compared with before. */
export type Strength = 'weaker' | 'different' | 'new';

/** A changed place in a test, with the lines before and after: the test behaves differently, or a changed locator needs a person's decision. */
export interface TestDifference {
  /** The titles of the test, or the file for code outside of tests. */
  readonly test: string;
  readonly file: string;
  /** Counted from 1, in the changed file, or in the old one if steps were removed. */
  readonly line: number;
  readonly strength: Strength;
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Why a changed locator needs a person's decision; null if more than a locator differs. */
  readonly why: string | null;
}

/** A changed locator that needs no person: it is used for an action, or its unchanged text still identifies the element. */
export interface LocatorChange {
  /** Both locators as in the source, on one line. */
  readonly old: string;
  readonly now: string;
  readonly file: string;
  /** In the changed file, counted from 1. */
  readonly line: number;
}

export interface GuardFindings {
  /** The edits that were cut; the rest of the change is tried. */
  readonly cut: readonly Cut[];
  /** Differences in the tests that no fix may introduce. */
  readonly differences: readonly TestDifference[];
  readonly locatorChanges: readonly LocatorChange[];
  /** Changes that no honest fix contains, or that cannot be judged. */
  readonly violations: readonly Violation[];
}

export const noFindings: GuardFindings = {
  cut: [],
  differences: [],
  locatorChanges: [],
  violations: [],
};
