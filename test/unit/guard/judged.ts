import { type Edit, requestOf } from '../../../fixtures/guard/cases.mjs';
import type { Category } from '../../../src/core/diagnosis.js';
import type { Violation } from '../../../src/core/guard/violation.js';
import { judge } from '../../../src/guard/judge.js';

/** The guard's violations for these edits of the fixture project; `given` are edits made before the agent started. */
export async function judged(
  edits: readonly Edit[],
  category: Category,
  given: readonly Edit[] = [],
): Promise<readonly Violation[]> {
  const { violations } = await judge(requestOf(edits, category, given));
  return violations;
}
