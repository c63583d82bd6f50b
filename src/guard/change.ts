import { appDataIn } from './app-data.js';
import { isCode } from '../code/imports.js';
import { type FileEdit, fileState, isSameState } from './edit.js';
import type { GuardRequest } from './judge.js';
import { readTestCode, type TestCode } from './test-code.js';
import { isSnapshotPath, isSpecName, type SuitePlaces, testPlaces } from './test-places.js';

/** A change as the checks see it: the edits, sorted into those of the tests and those of the app, and the test code in both states. */
export interface Change {
  readonly request: GuardRequest;
  readonly suite: SuitePlaces;
  readonly edits: readonly FileEdit[];
  /** Edits to the tests' own files. */
  readonly ofTests: readonly FileEdit[];
  /** All other edits, except those to snapshots. */
  readonly ofApp: readonly FileEdit[];
  readonly old: TestCode;
  readonly now: TestCode;
  /** Edited files of the app that the tests read or import, too. */
  readonly shared: readonly string[];
  /** The files of the project before the change. */
  readonly paths: ReadonlySet<string>;
}

/** Reads what changed; null if nothing did. */
export async function readChange(request: GuardRequest): Promise<Change | null> {
  const edits = await readEdits(request);
  if (edits.length === 0) return null;
  const paths = new Set(await request.before.paths());
  const files = edits.filter(({ kind }) => kind === 'file');
  // A suite that did not start listed no tests. Spec files are then recognized by their names.
  const { testFiles } = request.suite;
  const named = testFiles.length > 0 ? testFiles : [...paths].filter((one) => isSpecName.test(one));
  const known = { ...request.suite, testFiles: named };
  const data = await appDataIn(files, request.before, known);
  const suite = { ...known, loaded: known.loaded?.filter((file) => !data.has(file)) ?? [] };
  const isAmongTests = testPlaces(suite);
  const isTests = ({ path }: FileEdit, code: TestCode) =>
    isAmongTests(path) || code.parsed.has(path) || code.unparsable.has(path);
  const old = await readTestCode(request.before, suite, { edits: files });
  // If only the app changed, the tests need not be read again.
  const concerns = files.some((edit) => isTests(edit, old) || (!edit.before && isCode(edit.path)));
  const now = concerns ? await readTestCode(request.after, suite, { known: old, edits: files }) : old;
  const judged = files.filter(({ path }) => !isSnapshotPath(path));
  const ofTests = judged.filter((edit) => isTests(edit, old) || isTests(edit, now));
  const ofApp = judged.filter((edit) => !ofTests.includes(edit));
  const shared = [...data, ...files.flatMap(({ path }) => (old.appModules.has(path) ? [path] : []))];
  return { request, suite, edits, ofTests, ofApp, old, now, shared, paths };
}

async function readEdits({ changes, before, after }: GuardRequest): Promise<FileEdit[]> {
  const paths = changes.map((one) => one.path);
  const [olds, news] = await Promise.all([before.read(paths), after.read(paths)]);
  const state = (bytes: Uint8Array | undefined) => (bytes ? fileState(bytes) : null);
  return changes
    .map(({ path, kind = 'file' }) => {
      const [was, is] = [olds, news].map((one) => state(one.get(path)));
      return { path, kind, before: was ?? null, after: is ?? null };
    })
    .filter((edit) => edit.kind !== 'file' || !isSameState(edit.before, edit.after));
}
