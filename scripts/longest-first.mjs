// Orders test files for vitest: the longest first, by the durations in test/durations.json, so that no long file begins when the others end. A file
// with no known duration comes first.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { BaseSequencer } from 'vitest/node';
import { durationsFile, root } from './setup.mjs';

export class LongestFirst extends BaseSequencer {
  /** @param {import('vitest/node').TestSpecification[]} files */
  async sort(files) {
    /** @type {Record<string, number>} */
    const seconds = JSON.parse(readFileSync(durationsFile, 'utf8'));
    const of = ({ moduleId }) => seconds[path.relative(root, moduleId)] ?? Infinity;
    return files.toSorted((a, b) => of(b) - of(a) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}
