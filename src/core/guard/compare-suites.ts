import { compareConfig } from './compare-config.js';
import { compareMarks } from './compare-marks.js';
import { compareTests } from './compare-tests.js';
import type { SuiteOutline } from './outline.js';
import type { Violation } from './violation.js';

/** Everything that became weaker between two states of the tests, each thing once (HN-3). */
export function compareSuites(before: SuiteOutline, after: SuiteOutline): Violation[] {
  return distinct([
    ...compareMarks(before.marks, after.marks),
    ...compareConfig(before.config, after.config),
    ...compareTests(before.roots, after.roots),
  ]);
}

/** A helper that ten tests call is told of once. */
export function distinct(violations: readonly Violation[]): Violation[] {
  const seen = new Map(
    violations.map((one) => [JSON.stringify([one.rule, one.file, one.line, one.before]), one]),
  );
  return [...seen.values()];
}
