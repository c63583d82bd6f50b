import type { SuiteOutline } from '../../core/guard/outline.js';
import { readConfig } from './read-config.js';
import { readMarks } from './read-marks.js';
import { readRoots } from './read-roots.js';
import type { SourceFile } from './syntax.js';
import { testSources } from './test-sources.js';

/** What the outline of a state of the tests is made from. */
export interface SuiteFiles {
  readonly files: readonly SourceFile[];
  /** The Playwright config's path, or null. */
  readonly config: string | null;
  /** The files whose tests and marks are read; the others are there to be followed into. */
  readonly affected: ReadonlySet<string>;
  readonly importedFile: (from: string, source: string) => string | null;
}

/** Reads parsed test files into what the guard compares. */
export function readSuite({ files, config, affected, importedFile }: SuiteFiles): SuiteOutline {
  const sources = testSources(files, importedFile);
  return {
    roots: readRoots(sources, affected),
    marks: readMarks(sources, affected),
    config: config === null ? [] : readConfig(config, sources),
  };
}
