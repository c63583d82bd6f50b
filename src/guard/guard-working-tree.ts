import type { Finding } from '../model/guard-findings.js';
import path from 'node:path';
import type { GitChanges } from '../workspace/git-trees.js';
import { findPlaywright } from '../playwright/find-playwright.js';
import { listSuite } from '../playwright/run-suite.js';
import type { GuardFindings, TestDifference } from './findings.js';
import type { SuitePaths } from './request.js';
import { findSuitePaths, runGuard } from './run-guard.js';
import { specName } from './test-paths.js';

/** How long judging a branch may take, in milliseconds. A branch may be larger than an agent's fix. */
const LIMIT_MS = 60_000;

/** Where the suite is, and a function for warnings if Playwright cannot list it. */
interface SuiteLocation {
  readonly cwd: string;
  /** The path of Playwright's config as the user gave it, or null. */
  readonly config: string | null;
  readonly warn: (message: string) => void;
}

/** Judges the changes in the working tree, by agents or people, without running the suite (HN-3, HN-4). */
export async function guardWorkingTree(
  { root, changes: tracked, findHidden, before, after }: GitChanges,
  location: SuiteLocation,
): Promise<GuardFindings> {
  const trackedPaths = new Set(tracked.map((change) => change.path));
  const changes = [...tracked, ...(await findHidden()).filter((change) => !trackedPaths.has(change.path))];
  const paths = new Set(await before.listPaths());
  const suite =
    changes.length === 0 ? unknownSuite : await readSuitePaths(root, location, (file) => paths.has(file));
  const specs = [...paths].filter((file) => specName.test(file));
  const withSpecs = { ...suite, testFiles: [...new Set([...suite.testFiles, ...specs])] };
  const request = { category: 'ui-error', tests: 'shown', changes, before, after, suite: withSpecs } as const;
  return runGuard(request, { limitMs: LIMIT_MS });
}

/** Returns the forbidden changes and, if strict, also those that only a person can allow. */
export function listFindings({ violations, differences, cut }: GuardFindings, isStrict: boolean): Finding[] {
  const isFinding = (difference: TestDifference) =>
    difference.strength === 'weaker' || (isStrict && difference.strength === 'different');
  return [
    ...violations.map(({ rule, file, line, says }) => ({ rule, file, line, says })),
    ...differences.filter(isFinding).map(({ strength, test, file, line }) => {
      return {
        rule: strength === 'weaker' ? 'test-weakened' : 'test-changed',
        file,
        line,
        says: `${test} is ${strength}`,
      };
    }),
    ...(isStrict ? cut : []).map(({ file, why }) => ({
      rule: 'protected-file',
      file,
      line: null,
      says: why,
    })),
  ];
}

const unknownSuite: SuitePaths = { testFiles: [], testDir: null, config: null, titles: [] };

/** Asks Playwright for the files of its suite: those that `playwright test --list` loads. */
async function readSuitePaths(
  root: string,
  { cwd, config, warn }: SuiteLocation,
  existedBefore: (file: string) => boolean,
): Promise<SuitePaths> {
  const playwright = findPlaywright(cwd, config === null ? undefined : path.resolve(cwd, config));
  if (!playwright.ok) {
    warn(`${playwright.error.message}; test files are recognized by their names`);
    return unknownSuite;
  }
  const args = config === null ? [] : ['--config', config];
  const listed = await listSuite({ playwright: playwright.value, cwd, args });
  if (listed.tests.length === 0)
    warn('Playwright could not list the tests; test files are recognized by their names');
  return findSuitePaths(root, listed, existedBefore);
}
