import path from 'node:path';
import escapeStringRegexp from 'escape-string-regexp';
import { isCode } from '../code/imports.js';
import type { FileSnapshot } from '../workspace/git-trees.js';
import { isLockFile, isManifest } from './protected-files.js';
import { type JudgedEdit, createFileState, type SuitePaths } from './request.js';

/** The usual names of spec files. */
export const specName = /\.(?:spec|test)\.[mc]?[jt]sx?$/;

/** Scenarios in Gherkin, from which playwright-bdd generates the specs that Playwright runs. */
const scenarioFile = /\.feature(?:\.md)?$/;

/** True if other rules of the guard judge a file, even if the tests read it. */
function isJudgedElsewhere(file: string): boolean {
  return (
    isManifest(file) || isLockFile(file) || /(?:^|\/)(?:[jt]sconfig[\w.-]*\.json|\.env[\w.-]*)$/.test(file)
  );
}

/** Pages and their assets. They belong to the app, even if a test's own process serves them. */
const pageAsset = /\.(?:html?|css|scss|less|vue|svelte|astro|map|wasm|svg|ico|woff2?)$/;

/** True if a file is a snapshot that Playwright compares with. */
export function isSnapshotPath(file: string): boolean {
  return /(?:-snapshots|__snapshots__|__screenshots__)\/|\.aria\.ya?ml$|\.snap$/.test(file);
}

/** Creates a predicate for files of any kind that belong to the tests: those in test folders, and data that the tests name. */
export function createTestPathPredicate({
  testFiles,
  testDir,
  config,
  loaded = [],
}: SuitePaths): (file: string) => boolean {
  const data = loaded.filter((file) => !isCode(file) && !isJudgedElsewhere(file) && !pageAsset.test(file));
  const testPaths = new Set([...testFiles, ...data, ...(config === null ? [] : [config])]);
  const folders = testDir === null || testDir === '' ? testFiles.flatMap(findTestFoldersAround) : [testDir];
  const prefixes = [...new Set(folders)].map((folder) => `${folder}/`);
  // Test folders may contain pages for the browser; a page that no test names belongs to the app.
  const loadedFiles = new Set(loaded);
  const isPage = (file: string) =>
    loadedFiles.size > 0 && !loadedFiles.has(file) && pageAsset.test(file) && !isSnapshotPath(file);
  return (file) =>
    testPaths.has(file) ||
    scenarioFile.test(file) ||
    (prefixes.some((prefix) => file.startsWith(prefix)) && !isPage(file));
}

/**
 * Without a test directory, the outermost folder with a name like `tests` above a spec belongs to the tests. A spec next to app code has no such
 * folder.
 */
function findTestFoldersAround(file: string): string[] {
  const parts = file.split('/').slice(0, -1);
  const index = parts.findIndex((part) => testFolderName.test(part));
  return index === -1 ? [] : [parts.slice(0, index + 1).join('/')];
}

const testFolderName = /^(?:__tests__|tests?|e2e|specs?|playwright|integration)$/i;
const extensions = ['ts', 'tsx', 'js', 'jsx', 'mts', 'mjs', 'cts', 'cjs', 'vue', 'svelte'];

/**
 * True if the test directory contains the app's code, as with `testDir: 'src'`: most specs are next to the module that they are named after
 * (`cart.spec.tsx` and `cart.tsx`), outside of folders with names like `tests`.
 */
export function testDirContainsApp(testFiles: readonly string[], has: (file: string) => boolean): boolean {
  const isNextToModule = (file: string) =>
    specName.test(file) &&
    findTestFoldersAround(file).length === 0 &&
    extensions.some((extension) => has(file.replace(specName, `.${extension}`)));
  return testFiles.filter(isNextToModule).length * 2 > testFiles.length;
}

/** An app with more code files is not searched; data that its tests name then counts as test data. */
const MAX_APP_FILES = 5000;

/**
 * Finds changed data files that belong to the app although the tests name them: they are not in a test folder, and app code
 * refers to them by name (`import rooms from './rooms.json'`) or by a pattern for their folder (`rooms/*.json`). Uses the state before
 * the change, because a change must not turn test data into app data.
 */
export async function findAppData(
  edits: readonly JudgedEdit[],
  before: FileSnapshot,
  suite: SuitePaths,
): Promise<ReadonlySet<string>> {
  const { loaded = [] } = suite;
  const isTestPath = createTestPathPredicate({ ...suite, loaded: [] });
  const data = edits
    .map((edit) => edit.path)
    .filter((file) => loaded.includes(file) && !isCode(file) && !pageAsset.test(file) && !isTestPath(file));
  if (data.length === 0) return new Set();
  const code = (await before.listPaths()).filter(
    (file) => isCode(file) && !isTestPath(file) && !specName.test(file),
  );
  if (code.length > MAX_APP_FILES) return new Set();
  const texts = [...(await before.readFiles(code)).values()].flatMap(
    (bytes) => createFileState(bytes).text ?? [],
  );
  const appTexts = texts.filter((text) => !/['"](?:@playwright\/test|playwright(?:-core)?)['"]/.test(text));
  return new Set(data.filter((file) => appTexts.some((text) => mentionsFile(text, file))));
}

/** True if code refers to a file, as in `'./rooms.json'`, `'content/rooms/*.json'` or `` `content/rooms/${id}.json` ``. */
function mentionsFile(text: string, file: string): boolean {
  const folder = path.posix.basename(path.posix.dirname(file));
  const byName = new RegExp(`['"\`/]${escapeStringRegexp(path.posix.basename(file))}['"\`?]`);
  const byFolder = new RegExp(`['"\`/]${escapeStringRegexp(folder)}/(?:\\*|\\$\\{)`);
  return byName.test(text) || (folder !== '.' && byFolder.test(text));
}
