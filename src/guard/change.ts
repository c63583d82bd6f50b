import { isCode } from '../code/imports.js';
import type { Cut } from '../model/guard-findings.js';
import type { FileSnapshot } from '../workspace/git-trees.js';
import { findAppData, specName, createTestPathPredicate } from './test-paths.js';
import {
  type JudgedEdit,
  createFileState,
  type GuardRequest,
  isSameState,
  type SuitePaths,
} from './request.js';
import { createMissedSnapshotCheck, findProtectedEdits } from './protected.js';
import { findConfigFiles, readTestCode, type TestCode } from './test-code.js';
import { parse } from 'dotenv';

/** A change without its forbidden edits: the edits to tests and to the app, and the test code before and after. */
export interface GuardedChange {
  readonly request: GuardRequest;
  readonly suite: SuitePaths;
  readonly edits: readonly JudgedEdit[];
  readonly cut: readonly Cut[];
  readonly testEdits: readonly JudgedEdit[];
  /** Cut edits to test code, which are compared only to report what they change. */
  readonly cutTestEdits: readonly JudgedEdit[];
  readonly appEdits: readonly JudgedEdit[];
  readonly old: TestCode;
  readonly now: TestCode;
}

/** Reads a change and cuts its forbidden edits; null if nothing changed. */
export async function readGuardedChange(request: GuardRequest): Promise<GuardedChange | null> {
  const edits = await readEdits(request);
  if (edits.length === 0) return null;
  const { before, after } = request;
  const files = edits.filter(({ kind }) => kind === 'file');
  // A suite that did not start listed no tests; then spec files are recognized by their names.
  const { testFiles } = request.suite;
  const testFilesByName =
    testFiles.length > 0 ? testFiles : (await before.listPaths()).filter((file) => specName.test(file));
  const suiteWithFiles = { ...request.suite, testFiles: testFilesByName };
  const old = await readTestCode(before, suiteWithFiles, { edits: files });
  const appData = await findAppData(files, before, { ...suiteWithFiles, loaded: [...old.reached] });
  const suite = { ...suiteWithFiles, loaded: [...old.reached].filter((file) => !appData.has(file)) };
  const isTestPath = createTestPathPredicate(suite);
  const wasTestCode = ({ path }: JudgedEdit) =>
    isTestPath(path) || old.parsed.has(path) || old.unparsable.has(path);
  // If only the app changed, there is no need to read the tests again.
  const affectsTests = files.some((edit) => wasTestCode(edit) || (!edit.before && isCode(edit.path)));
  const now = affectsTests ? await readTestCode(after, suite, { oldCode: old, edits: files }) : old;
  const belongsToTests = (edit: JudgedEdit) =>
    wasTestCode(edit) || now.parsed.has(edit.path) || now.unparsable.has(edit.path);
  const isMissedSnapshot = createMissedSnapshotCheck(request.errors ?? []);
  const configFiles = findConfigFiles(old, suite);
  const protectedCuts = [
    ...findProtectedEdits(edits, { isMissedSnapshot, configFiles }),
    ...(await findInventedValues(files, before)),
  ];
  const cut = [
    ...protectedCuts,
    ...files
      .filter((edit) => !protectedCuts.some(({ file }) => file === edit.path))
      .flatMap((edit) => explainCut(edit)),
  ];
  const uncut = files.filter((edit) => !cut.some(({ file }) => file === edit.path));
  const testEdits = uncut.filter(belongsToTests);
  return {
    request,
    suite,
    edits,
    cut,
    testEdits,
    cutTestEdits: request.tests === 'cut' ? files.filter(canCompare) : [],
    appEdits: uncut.filter((edit) => !belongsToTests(edit)),
    old,
    now,
  };

  function canCompare({ path: file, after }: JudgedEdit): boolean {
    return (
      isCode(file) && !protectedCuts.some((cut) => cut.file === file) && (after ? now : old).parsed.has(file)
    );
  }

  /** Returns why an edit to the tests must be cut: only code can be compared, and only a ui-error allows edits. Empty if it need not be. */
  function explainCut(edit: JudgedEdit): Cut[] {
    const { path: file } = edit;
    const shadowed = [...old.parsed.keys()].find(
      (other) => other !== file && dropExtension(other) === dropExtension(file),
    );
    const isShadow = !edit.before && isCode(file) && shadowed !== undefined && !wasDeleted(shadowed);
    const cutBecause = (why: string) => [{ file, why }];
    if (isShadow) return cutBecause(`it may be imported instead of ${shadowed}`);
    if (!belongsToTests(edit)) return [];
    if (request.tests === 'cut')
      return cutBecause(`it belongs to the tests, which are read-only for a ${request.category}`);
    if (!isCode(file)) return request.tests === 'open' ? [] : cutBecause('it is data that the tests read');
    if (!edit.before && specName.test(file) && request.tests === 'compared')
      return cutBecause('it is a new spec file');
    if (edit.after && now.unparsable.has(file)) return cutBecause('it cannot be parsed');
    if (edit.before && old.unparsable.has(file))
      return cutBecause('it could not be parsed before, so nothing shows what it checked');
    return [];
  }

  function wasDeleted(file: string): boolean {
    return files.some((edit) => edit.path === file && !edit.after);
  }
}

/** Drops the extension, because an import without one may resolve to any of these files. */
const dropExtension = (file: string) => file.replace(/(?:\/index)?\.[cm]?[jt]sx?$/, '');

async function readEdits({ changes, before, after }: GuardRequest): Promise<JudgedEdit[]> {
  const paths = changes.map((change) => change.path);
  const [oldFiles, newFiles] = await Promise.all([before.readFiles(paths), after.readFiles(paths)]);
  const toState = (bytes: Uint8Array | undefined) => (bytes ? createFileState(bytes) : null);
  return changes
    .map(({ path, kind = 'file' }) => ({
      path,
      kind,
      before: toState(oldFiles.get(path)),
      after: toState(newFiles.get(path)),
    }))
    .filter((edit) => edit.kind !== 'file' || !isSameState(edit.before, edit.after));
}

/** Files with environment variables: `.env`, `.env.local`, `web.env`, `.dev.vars`, and samples, which contain public values. */
const environmentFile = /(?:^|\/)(?:\.env(?:[.-][^/]+)?|\.envrc|\.dev\.vars(?:\.[^/]+)?|[\w.-]+\.env)$/;
const sample = /[.-](?:example|sample|template|dist|schema|defaults)$/i;

/**
 * Finds environment files with a new value that no environment file of the project had for that variable. Only a person knows a key, a password or
 * a host; with an invented value, a test passes for the wrong reason.
 */
async function findInventedValues(edits: readonly JudgedEdit[], before: FileSnapshot): Promise<Cut[]> {
  const files = edits.filter(({ path, after }) => after && environmentFile.test(path) && !sample.test(path));
  if (files.length === 0) return [];
  const oldPairs = new Set<string>();
  const paths = (await before.listPaths()).filter((file) => environmentFile.test(file));
  for (const bytes of (await before.readFiles(paths)).values())
    for (const pair of Object.entries(parse(Buffer.from(bytes)))) oldPairs.add(pair.join('='));
  return files.flatMap(({ path: file, after }) => {
    const variables = Object.entries(parse(after?.text ?? '')).filter(
      (pair) => !oldPairs.has(pair.join('=')),
    );
    const names = variables.map(([name]) => name).join(', ');
    return variables.length === 0 ? [] : [{ file, why: `only a person knows the value of ${names}` }];
  });
}
