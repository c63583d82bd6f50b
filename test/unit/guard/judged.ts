import { type Edit, requestOf } from '../../../fixtures/guard/cases.mjs';
import type { Category } from '../../../src/model/diagnosis.js';
import type { GuardFindings } from '../../../src/guard/findings.js';
import { judgeChange } from '../../../src/guard/judge.js';

/** What the guard finds in these edits of the fixture project; `given` are edits made before the agent started. */
export async function judged(
  edits: readonly Edit[],
  category: Category,
  given: readonly Edit[] = [],
): Promise<GuardFindings> {
  return judgeChange(requestOf(edits, category, given));
}

/** The rules that a change breaks, and by how much it changes tests: `test-weakened` … for each difference. */
export function refusals({ violations, differences }: GuardFindings): string[] {
  return [...violations.map(({ rule }) => rule), ...differences.map(({ strength }) => strength)];
}

/** The files that do not enter. */
export function leftOut({ cut }: GuardFindings): string[] {
  return cut.map(({ file }) => file);
}
