import { isCode } from '../code/imports.js';

/** What a run knows of its suite; paths are relative to the recorded root, with `/`. */
export interface SuitePlaces {
  /** Spec files that Playwright found. */
  readonly testFiles: readonly string[];
  /** Files of the project that Playwright's processes were seen to load and read; empty where nobody looked. */
  readonly loaded?: readonly string[];
  /** Playwright's test directory; empty for the root, null where nobody knows. */
  readonly testDir: string | null;
  readonly config: string | null;
  /** Titles of the tests, without their describe blocks. */
  readonly titles: readonly string[];
}

/** What a spec is called by default. */
export const isSpecName = /\.(?:spec|test)\.[mc]?[jt]sx?$/;

/** Files that have checks of their own, whoever reads them. */
const judgedElsewhere =
  /(?:^|\/)(?:package\.json|[jt]sconfig[\w.-]*\.json|\.env[\w.-]*|\.npmrc|[^/]*lock[^/]*)$/;

/** Pages and their parts are the app's, also where a test's own process serves them. */
const served = /\.(?:html?|css|scss|less|vue|svelte|astro|map|wasm|svg|ico|woff2?)$/;

/** Whether a file is a snapshot that Playwright compares with. */
export function isSnapshotPath(file: string): boolean {
  return /(?:-snapshots|__snapshots__|__screenshots__)\/|\.aria\.ya?ml$|\.snap$/.test(file);
}

/** Tells what lies among the tests, whatever kind of file it is: where tests lie, and data that they were seen to read. */
export function testPlaces({
  testFiles,
  testDir,
  config,
  loaded = [],
}: SuitePlaces): (file: string) => boolean {
  const data = loaded.filter((file) => !isCode(file) && !judgedElsewhere.test(file) && !served.test(file));
  const known = new Set([...testFiles, ...data, ...(config === null ? [] : [config])]);
  const folders = testDir === null || testDir === '' ? testFiles.flatMap(folderOf) : [testDir];
  const prefixes = [...new Set(folders)].map((folder) => `${folder}/`);
  // Among the tests lie pages too that only the browser was given: where somebody looked, what no test read is the app's.
  const read = new Set(loaded);
  const isPage = (file: string) =>
    read.size > 0 && !read.has(file) && served.test(file) && !isSnapshotPath(file);
  return (file) => known.has(file) || (prefixes.some((prefix) => file.startsWith(prefix)) && !isPage(file));
}

/** Where the tests lie anywhere, the outermost folder that is called after them is theirs; beside the app, none is. */
function folderOf(file: string): string[] {
  const parts = file.split('/').slice(0, -1);
  const index = parts.findIndex((part) =>
    /^(?:__tests__|tests?|e2e|specs?|playwright|integration)$/i.test(part),
  );
  return index === -1 ? [] : [parts.slice(0, index + 1).join('/')];
}
