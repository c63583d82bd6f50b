import { type Edit, requestOf } from '../../../fixtures/guard/project.mjs';
import type { Category } from '../../../src/core/diagnosis.js';
import type { Violation } from '../../../src/core/guard/violation.js';
import { judge } from '../../../src/guard/judge.js';

/** What the guard says of these edits of the fixture project; `given` are edits of it as the agent found it. */
export async function judged(
  edits: readonly Edit[],
  category: Category,
  given: readonly Edit[] = [],
): Promise<readonly Violation[]> {
  const { violations } = await judge(requestOf(edits, category, given));
  return violations;
}
