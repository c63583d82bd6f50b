import type { ProcessEntry } from './proc-table.js';

/** Every process below `root`, by parentage, without `root` itself. */
export function descendantsOf(root: number, table: readonly ProcessEntry[]): ProcessEntry[] {
  const found: ProcessEntry[] = [];
  const below = new Set([root]);
  // Parents may come after their children in the table, so look until nothing is added.
  for (let grown = true; grown;) {
    grown = false;
    for (const entry of table) {
      if (below.has(entry.pid) || !below.has(entry.parent)) continue;
      below.add(entry.pid);
      found.push(entry);
      grown = true;
    }
  }
  return found;
}
