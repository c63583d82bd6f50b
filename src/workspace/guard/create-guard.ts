import { realpathSync } from 'node:fs';
import path from 'node:path';
import type { FileChange } from '../../core/attempt.js';
import type { Category } from '../../core/diagnosis.js';
import type { Violation } from '../../core/guard/violation.js';
import type { SuiteRun } from '../../playwright/suite-run.js';
import type { Tree } from '../tree.js';
import { guard } from './guard.js';
import type { SuitePlaces } from './test-files.js';

/** What an agent changed, and the class of failure that it was sent to heal. */
export interface GuardedWork {
  readonly category: Category;
  readonly files: readonly FileChange[];
  readonly before: Tree;
  readonly after: Tree;
}

/** Judges one agent's changes; empty for an honest change. */
export type Guard = (work: GuardedWork) => Promise<readonly Violation[]>;

/** A guard for one run, which knows its tests from the run's first suite. */
export function createGuard(root: string, first: SuiteRun): Guard {
  const suite = placesOf(root, first);
  return ({ category, files, before, after }) =>
    guard({
      category,
      suite,
      changes: files,
      before,
      after,
    });
}

/** Where the suite's files are, seen from the recorded root, which may be reached through links. */
function placesOf(
  root: string,
  { tests, rootDir, configFile }: Pick<SuiteRun, 'tests' | 'rootDir' | 'configFile'>,
): SuitePlaces {
  const top = real(root);
  const inside = (file: string): string | null => {
    const place = path.relative(top, real(file)).replaceAll(path.sep, '/');
    return place.startsWith('../') || path.isAbsolute(place) ? null : place;
  };
  const files = new Set(tests.map(({ test }) => test.location.file));
  return {
    testFiles: [...files].flatMap((file) => inside(file) ?? []),
    testDir: rootDir === '' ? null : inside(rootDir),
    config: configFile === null ? null : inside(configFile),
    titles: [...new Set(tests.flatMap(({ test }) => test.titlePath.at(-1) ?? []))],
  };
}

function real(place: string): string {
  try {
    return realpathSync(place);
  } catch {
    return path.resolve(place);
  }
}
