import path from 'node:path';
import escapeStringRegexp from 'escape-string-regexp';
import { isCode } from '../code/imports.js';
import { type FileEdit, fileState } from './edit.js';
import { isSpecName, served, type SuitePlaces, testPlaces } from './test-places.js';
import type { Tree } from '../workspace/tree.js';

/** An app with more code files than this is not searched, and data that its tests name counts as theirs. */
const MAX_FILES = 5000;

/**
 * Finds changed data files that belong to the app although the tests name them: they are not in a test folder, and app code
 * refers to them by name (`import rooms from './rooms.json'`) or by a pattern of their folder (`rooms/*.json`). Looks at the state before
 * the change, so that no change can turn test data into app data.
 */
export async function appDataIn(
  edits: readonly FileEdit[],
  before: Tree,
  suite: SuitePlaces,
): Promise<ReadonlySet<string>> {
  const { loaded = [] } = suite;
  const isAmongTests = testPlaces({ ...suite, loaded: [] });
  const data = edits
    .map((one) => one.path)
    .filter((file) => loaded.includes(file) && !isCode(file) && !served.test(file) && !isAmongTests(file));
  if (data.length === 0) return new Set();
  const code = (await before.paths()).filter(
    (file) => isCode(file) && !isAmongTests(file) && !isSpecName.test(file),
  );
  if (code.length > MAX_FILES) return new Set();
  const texts = [...(await before.read(code)).values()].flatMap((bytes) => fileState(bytes).text ?? []);
  const ofApp = texts.filter((text) => !/['"](?:@playwright\/test|playwright(?:-core)?)['"]/.test(text));
  return new Set(data.filter((file) => ofApp.some((text) => names(text, file))));
}

/** Whether code refers to a file, as in `'./rooms.json'`, `'content/rooms/*.json'` or `` `content/rooms/${id}.json` ``. */
function names(text: string, file: string): boolean {
  const folder = path.posix.basename(path.posix.dirname(file));
  const byName = new RegExp(`['"\`/]${escapeStringRegexp(path.posix.basename(file))}['"\`?]`);
  const byFolder = new RegExp(`['"\`/]${escapeStringRegexp(folder)}/(?:\\*|\\$\\{)`);
  return byName.test(text) || (folder !== '.' && byFolder.test(text));
}
