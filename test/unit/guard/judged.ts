import { edited, type Edit, places, project } from '../../../fixtures/guard/project.mjs';
import type { Category } from '../../../src/core/diagnosis.js';
import type { Violation } from '../../../src/core/guard/violation.js';
import { guard } from '../../../src/workspace/guard/guard.js';
import { inMemoryTree } from './in-memory-tree.js';

/** What the guard says of these edits of the fixture project. */
export function judged(edits: readonly Edit[], category: Category): Promise<Violation[]> {
  const after = edited(edits);
  const paths = [...new Set([...Object.keys(project), ...Object.keys(after)])];
  const changes = paths
    .filter((path) => project[path] !== after[path])
    .map((path) => ({ path, added: 1, removed: 1 }));
  return guard({
    category,
    changes,
    before: inMemoryTree(project),
    after: inMemoryTree(after),
    suite: places,
  });
}
