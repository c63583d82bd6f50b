import { realpathSync } from 'node:fs';
import path from 'node:path';
import type { Category } from '../core/diagnosis.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import type { Tree } from '../workspace/tree.js';
import type { SeenPage } from './checks/locators.js';
import type { ChangedPath, GuardRequest } from './judge.js';
import type { Judgement } from './judgement.js';
import { runGuard } from './run-guard.js';
import type { SuitePlaces } from './test-files.js';

/** What an agent changed, and the class of failure that it was sent to heal. */
export interface GuardedWork {
  readonly category: Category;
  readonly changes: readonly ChangedPath[];
  readonly before: Tree;
  readonly after: Tree;
  /** The pages of the red run, where they were kept. */
  readonly pages?: readonly SeenPage[];
  /** The files of the tests that the work is to heal, absolute. */
  readonly healed?: readonly string[];
}

/** Judges one agent's changes. */
export type Guard = (work: GuardedWork) => Promise<Judgement>;

/** A guard for one run, which knows its tests from the run's first suite. */
export function createGuard(
  root: string,
  first: SuiteRun,
  judge: (request: GuardRequest) => Promise<Judgement> = runGuard,
): Guard {
  const suite = placesOf(root, first);
  return ({ category, changes, before, after, pages = [], healed = [] }) =>
    judge({
      category,
      suite,
      pages,
      healed: healed.flatMap((file) => insideOf(root, file) ?? []),
      changes,
      before,
      after,
    });
}

/** Where the suite's files are, seen from the recorded root, which may be reached through links. */
export function placesOf(
  root: string,
  { tests, rootDir, configFile, testFiles }: Pick<SuiteRun, 'tests' | 'rootDir' | 'configFile' | 'testFiles'>,
): SuitePlaces {
  const inside = (file: string) => insideOf(root, file);
  const files = new Set(tests.map(({ test }) => test.location.file));
  return {
    testFiles: [...files].flatMap((file) => inside(file) ?? []),
    loaded: (testFiles ?? []).flatMap((file) => inside(file) ?? []),
    testDir: rootDir === '' ? null : inside(rootDir),
    config: configFile === null ? null : inside(configFile),
    titles: [...new Set(tests.flatMap(({ test }) => test.titlePath.at(-1) ?? []))],
  };
}

/** A file's path from the recorded root, or null for one outside. */
function insideOf(root: string, file: string): string | null {
  const place = path.relative(real(root), real(file)).replaceAll(path.sep, '/');
  return place.startsWith('../') || path.isAbsolute(place) ? null : place;
}

function real(place: string): string {
  try {
    return realpathSync(place);
  } catch {
    return path.resolve(place);
  }
}
