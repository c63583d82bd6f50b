import { existsSync } from 'node:fs';
import path from 'node:path';
import type { SuiteRun } from '../playwright/suite-run.js';
import type { GuardRequest } from './judge.js';
import type { Findings } from './findings.js';
import { runGuard } from './run-guard.js';
import { isAmongApp, type SuitePlaces } from './test-places.js';
import { pathInside, real } from '../paths.js';

/** Judges one agent's changes. The paths in `healed` are absolute here. */
export type Guard = (work: Omit<GuardRequest, 'suite'>) => Promise<Findings>;

/** Creates the guard of a run. It knows the tests from the first run of the suite. */
export function createGuard(
  root: string,
  first: SuiteRun,
  judge: (request: GuardRequest) => Promise<Findings> = runGuard,
): Guard {
  const suite = placesOf(root, first);
  return ({ healed = [], ...work }) =>
    judge({
      ...work,
      suite,
      healed: healed.flatMap((file) => insideOf(root, file) ?? []),
    });
}

/**
 * Returns the paths of the suite's files relative to the recorded root, which may be reached through symbolic links. `has` says which files
 * the project has; if it has changed since, which it had before.
 */
export function placesOf(
  root: string,
  { tests, rootDir, configFile }: Pick<SuiteRun, 'tests' | 'rootDir' | 'configFile'>,
  has: (file: string) => boolean = (file) => existsSync(path.join(root, file)),
): SuitePlaces {
  const inside = (file: string) => insideOf(root, file);
  const files = [...new Set(tests.map(({ test }) => test.location.file))].flatMap(
    (file) => inside(file) ?? [],
  );
  return {
    testFiles: files,
    testDir: rootDir === '' || isAmongApp(files, has) ? null : inside(rootDir),
    config: configFile === null ? null : inside(configFile),
    titles: [...new Set(tests.flatMap(({ test }) => test.titlePath.at(-1) ?? []))],
  };
}

function insideOf(root: string, file: string): string | null {
  return pathInside(real(root), real(file));
}
