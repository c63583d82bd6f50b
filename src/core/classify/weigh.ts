import { categories, decisive, type Category, type Reason } from '../diagnosis.js';
import { isProjectRule } from './project-rules.js';

/** How deep a class lies: of several causes in the evidence, the deepest is the root. `unknown` (a crash, say) ranks with symptoms. */
const depth: Record<Category, number> = {
  'build-error': 4,
  'database-error': 3,
  'runtime-error': 2,
  'network-error': 1,
  'ui-error': 0,
  unknown: 0,
};

/** What the project says of its own failures outranks any depth (CS-9). */
const projectWeight = 100;

/**
 * Ranks the classes that the reasons speak for, the likeliest first: among those with a deciding reason the deeper goes first
 * (CS-7: a locator that times out because the page threw is a runtime error), then the surer one.
 */
export function rankCategories(reasons: readonly Reason[]): Category[] {
  const best = new Map<Category, number>();
  for (const { category, confidence } of reasons) {
    best.set(category, Math.max(best.get(category) ?? 0, confidence));
  }
  const sure = (category: Category) => best.get(category) ?? 0;
  const named = new Set(reasons.filter(({ rule }) => isProjectRule(rule)).map(({ category }) => category));
  const weight = (category: Category) =>
    (named.has(category) ? projectWeight : 0) +
    (sure(category) >= decisive ? 10 + depth[category] : 0) +
    sure(category);
  return categories.filter((category) => best.has(category)).sort((a, b) => weight(b) - weight(a));
}
