import type { Cut, Violation } from '../model/guard-findings.js';

/** How much a test checks, compared with what it checked before. */
export type Strength = 'weaker' | 'different' | 'new';

/** A place where a test does something else than before, or has a locator that a person is asked about, with the lines before and after. */
export interface TestDifference {
  /** The titles of the test, or the file if it is in no test. */
  readonly test: string;
  readonly file: string;
  /** Counted from 1, in the changed file, or in the old one if steps were removed. */
  readonly line: number;
  readonly strength: Strength;
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Why a changed locator is asked about; null if more than a locator differs. */
  readonly why: string | null;
}

/** A locator that may change by itself: it acts, or a text that stays says what it has to find. */
export interface LocatorChange {
  /** Both as they are written, on one line. */
  readonly old: string;
  readonly now: string;
  readonly file: string;
  /** In the changed file, counted from 1. */
  readonly line: number;
}

export interface GuardFindings {
  /** What is left out; the rest of the change is tried. */
  readonly cut: readonly Cut[];
  /** What the tests do differently, beyond what a fix may change in them. */
  readonly differences: readonly TestDifference[];
  readonly locatorChanges: readonly LocatorChange[];
  /** What no honest fix contains, or what cannot be judged. */
  readonly violations: readonly Violation[];
}

export const harmless: GuardFindings = {
  cut: [],
  differences: [],
  locatorChanges: [],
  violations: [],
};
