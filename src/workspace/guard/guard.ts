import type { FileChange } from '../../core/attempt.js';
import type { Category } from '../../core/diagnosis.js';
import { compareMarks } from '../../core/guard/compare-marks.js';
import { comparePackage, type PackageParts } from '../../core/guard/compare-package.js';
import { compareSuites, distinct } from '../../core/guard/compare-suites.js';
import {
  isSnapshotPath,
  judgeProtected,
  judgeSnapshots,
  type PathChange,
} from '../../core/guard/judge-paths.js';
import { judgeEnvironment } from '../../core/guard/judge-environment.js';
import { judgeShadows } from '../../core/guard/judge-shadows.js';
import type { Violation } from '../../core/guard/violation.js';
import type { Tree } from '../tree.js';
import { affectedFiles } from './affected-files.js';
import { judgeTestFiles } from './judge-test-files.js';
import { readAppMarks } from './read-app-marks.js';
import { isCode } from './resolve-import.js';
import { readSuite } from './read-suite.js';
import { isSpecName, readTestCode, type SuitePlaces, type TestCode, testPlaces } from './test-files.js';

/** What an agent changed, and what it was to heal. */
export interface GuardRequest {
  /** The class of the failure: it decides what may be written (HN-4). */
  readonly category: Category;
  /** Paths relative to the recorded root. */
  readonly changes: readonly FileChange[];
  readonly before: Tree;
  readonly after: Tree;
  readonly suite: SuitePlaces;
}

/**
 * Judges what an agent did to the tests and to what is out of its reach, by parsing both states (HN-3, HN-4): empty for an
 * honest change.
 */
export async function guard(request: GuardRequest): Promise<Violation[]> {
  if (request.changes.length === 0) return [];
  const paths = request.changes.map((one) => one.path);
  const [before, after] = await Promise.all([request.before.read(paths), request.after.read(paths)]);
  const changes = paths.map((path) => ({ path, before: before.has(path), after: after.has(path) }));
  const suite = await withSpecs(request);
  const tests = await judgeTests({ ...request, suite }, changes);
  const others = changes.filter(({ path }) => !tests.files.has(path));
  return distinct([
    ...judgeProtected(changes),
    ...judgeSnapshots(changes),
    ...judgePackages(changes, before, after),
    ...judgeAliases(changes, before, after),
    ...paths.flatMap((path) => judgeEnvironment(path, before.get(path) ?? '', after.get(path) ?? '')),
    ...tests.violations,
    ...others.flatMap(({ path }) =>
      compareMarks(
        readAppMarks(path, before.get(path) ?? '', request.suite.titles),
        readAppMarks(path, after.get(path) ?? '', request.suite.titles),
      ),
    ),
  ]);
}

/** A suite that did not start named no test: then the specs are known by their names. */
async function withSpecs({ suite, before }: GuardRequest): Promise<SuitePlaces> {
  if (suite.testFiles.length > 0) return suite;
  return { ...suite, testFiles: (await before.paths()).filter((path) => isSpecName.test(path)) };
}

interface TestJudgement {
  readonly violations: readonly Violation[];
  /** Changed files that are the tests' own. */
  readonly files: ReadonlySet<string>;
}

async function judgeTests(request: GuardRequest, changes: readonly PathChange[]): Promise<TestJudgement> {
  const { suite, category } = request;
  const isAmongTests = testPlaces(suite);
  const old = await readTestCode(request.before, suite);
  const concerns = changes.some(
    ({ path, before }) => isAmongTests(path) || isIn(old, path) || (!before && isCode(path)),
  );
  // Where the app alone was changed, the tests need not be read twice.
  const now = concerns ? await readTestCode(request.after, suite) : old;
  const code = new Set(
    [old, now].flatMap((one) => [...one.parsed.map((file) => file.path), ...one.unparsable]),
  );
  const touched = changes.filter(
    ({ path }) => (isAmongTests(path) || code.has(path)) && !isSnapshotPath(path),
  );
  const files = new Set(touched.map((one) => one.path));
  const stray = changes.filter(
    ({ path, before }) => !before && /(?:^|\/)playwright\.config\.[mc]?[jt]s$/.test(path),
  );
  const testCode = new Set(old.parsed.map((file) => file.path));
  const another = [...stray.map(({ path }) => violationOf(path)), ...judgeShadows(changes, testCode)];
  if (touched.length === 0) return { violations: another, files };
  const affected = new Set([...affectedFiles(old, files), ...affectedFiles(now, files)]);
  const outline = ({ parsed, importedFile }: TestCode) =>
    readSuite({ files: parsed, importedFile, affected, config: suite.config });
  const [oldSuite, newSuite] = [outline(old), outline(now)];
  return {
    files,
    violations: [
      ...another,
      ...judgeTestFiles({
        category,
        changes: touched,
        old,
        now,
        config: { path: suite.config, isRead: oldSuite.config.length > 0 },
      }),
      ...compareSuites(oldSuite, newSuite),
    ],
  };
}

function isIn({ parsed, unparsable }: TestCode, path: string): boolean {
  return unparsable.includes(path) || parsed.some((one) => one.path === path);
}

function violationOf(file: string): Violation {
  return {
    rule: 'config-changed',
    file,
    line: null,
    before: null,
    after: file,
    says: 'another Playwright config was added',
  };
}

function judgePackages(
  changes: readonly PathChange[],
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): Violation[] {
  return changes
    .filter(({ path }) => /(?:^|\/)package\.json$/.test(path))
    .flatMap(({ path }) =>
      comparePackage(path, packageParts(before.get(path)), packageParts(after.get(path))),
    );
}

/** `paths` of a tsconfig, which Playwright follows, may put another module in the place of its own. */
function judgeAliases(
  changes: readonly PathChange[],
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): Violation[] {
  const names = (text = '') => /"(?:@playwright\/test|playwright(?:-core)?|\*)"\s*:/.test(text);
  return changes
    .filter(({ path }) => /(?:^|\/)[jt]sconfig[\w.-]*\.json$/.test(path))
    .filter(({ path }) => names(after.get(path)) && !names(before.get(path)))
    .map(({ path }) => ({
      rule: 'expect-replaced',
      file: path,
      line: null,
      before: null,
      after: path,
      says: 'a path alias takes the place of Playwright',
    }));
}

function packageParts(text: string | undefined): PackageParts | null {
  if (text === undefined) return null;
  try {
    const value = JSON.parse(text) as Record<string, Record<string, string> | undefined>;
    const versions = { ...value['peerDependencies'], ...value['devDependencies'], ...value['dependencies'] };
    // What takes the place of a package, wherever it is asked for: npm's, yarn's and pnpm's words for it.
    const replaced = ['overrides', 'resolutions', 'pnpm'].map((key) => [
      key,
      JSON.stringify(value[key] ?? ''),
    ]);
    const playwright = Object.fromEntries([
      ...Object.entries(versions).filter(([name]) =>
        /^(?:@playwright\/test|playwright(?:-core)?)$/.test(name),
      ),
      ...replaced.filter(([, text]) => /["/>](?:test|playwright(?:-core)?)(?:@[^"]*)?":/.test(text ?? '')),
    ]);
    return { scripts: value['scripts'] ?? {}, playwright };
  } catch {
    return null;
  }
}
