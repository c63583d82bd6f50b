import path from 'node:path';
import escapeStringRegexp from 'escape-string-regexp';
import { isCode } from '../code/imports.js';
import { type FileEdit, fileState } from './edit.js';
import { isSpecName, type SuitePlaces, testPlaces } from './test-places.js';
import type { Tree } from '../workspace/tree.js';

/** An app of more files than these is not searched: what its tests read stays theirs. */
const MAX_FILES = 5000;

/**
 * Changed data that the tests were seen to read and that are the app's all the same: they lie apart from the tests, and code of the app
 * names them, by their name (`import rooms from './rooms.json'`) or by a pattern of their folder (`rooms/*.json`). Asked of the state
 * before the change, so that no change can make them so.
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
    .filter((file) => loaded.includes(file) && !isCode(file) && !isAmongTests(file));
  if (data.length === 0) return new Set();
  const code = (await before.paths()).filter(
    (file) => isCode(file) && !isAmongTests(file) && !isSpecName.test(file),
  );
  if (code.length > MAX_FILES) return new Set();
  const texts = [...(await before.read(code)).values()].flatMap((bytes) => fileState(bytes).text ?? []);
  const ofApp = texts.filter((text) => !/['"](?:@playwright\/test|playwright(?:-core)?)['"]/.test(text));
  return new Set(data.filter((file) => ofApp.some((text) => names(text, file))));
}

/** `'./rooms.json'`, `'content/rooms/*.json'`, `` `content/rooms/${id}.json` ``. */
function names(text: string, file: string): boolean {
  const folder = path.posix.basename(path.posix.dirname(file));
  const byName = new RegExp(`['"\`/]${escapeStringRegexp(path.posix.basename(file))}['"\`?]`);
  const byFolder = new RegExp(`['"\`/]${escapeStringRegexp(folder)}/(?:\\*|\\$\\{)`);
  return byName.test(text) || (folder !== '.' && byFolder.test(text));
}
