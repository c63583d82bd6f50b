import type { TestCode } from './test-files.js';

/**
 * The changed files and all test files that import one of them, over any number of files: what the others do is what they
 * did before.
 */
export function affectedFiles({ imports }: TestCode, changed: Iterable<string>): Set<string> {
  const importers = new Map<string, string[]>();
  for (const [file, targets] of imports) {
    for (const target of targets) importers.set(target, [...(importers.get(target) ?? []), file]);
  }
  const affected = new Set<string>();
  const next = [...changed];
  for (let file = next.pop(); file !== undefined; file = next.pop()) {
    if (affected.has(file)) continue;
    affected.add(file);
    next.push(...(importers.get(file) ?? []));
  }
  return affected;
}
