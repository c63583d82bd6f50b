import path from 'node:path';
import type { SuiteRun } from '../playwright/suite-run.js';
import type { GuardRequest } from './judge.js';
import type { Judgement } from './judgement.js';
import { runGuard } from './run-guard.js';
import type { SuitePlaces } from './test-places.js';
import { real } from '../workspace/is-inside.js';

/** Judges one agent's changes; the files of the tests that they are to heal are absolute here, as are those of what broke them. */
export type Guard = (work: Omit<GuardRequest, 'suite'>) => Promise<Judgement>;

/** A guard for one run, which knows its tests from the run's first suite. */
export function createGuard(
  root: string,
  first: SuiteRun,
  judge: (request: GuardRequest) => Promise<Judgement> = runGuard,
): Guard {
  const suite = placesOf(root, first);
  return ({ healed = [], broke = [], ...work }) =>
    judge({
      ...work,
      suite,
      healed: healed.flatMap((file) => insideOf(root, file) ?? []),
      broke: broke.map((hunk) => ({ ...hunk, file: insideOf(root, hunk.file) ?? hunk.file })),
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
