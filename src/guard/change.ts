import { isCode } from '../code/imports.js';
import type { Cut } from '../model/guard-findings.js';
import type { FileSnapshot } from '../workspace/git-trees.js';
import { appDataIn, isSpecName, testPlaces } from './test-places.js';
import { type JudgedEdit, fileState, type GuardRequest, isSameState, type SuitePlaces } from './request.js';
import { missedSnapshots, protectedIn } from './protected.js';
import { filesOfConfig, readTestCode, type TestCode } from './test-code.js';
import { parse } from 'dotenv';

/** A change without what is cut from it: the edits of the tests and those of the app, and the test code in both states. */
export interface GuardedChange {
  readonly request: GuardRequest;
  readonly suite: SuitePlaces;
  readonly edits: readonly JudgedEdit[];
  readonly cut: readonly Cut[];
  readonly ofTests: readonly JudgedEdit[];
  /** Code of the tests that is cut, which is only compared to say what it changes. */
  readonly cutTests: readonly JudgedEdit[];
  readonly ofApp: readonly JudgedEdit[];
  readonly old: TestCode;
  readonly now: TestCode;
}

/** Reads what changed, and cuts what may not; null if nothing changed. */
export async function readGuardedChange(request: GuardRequest): Promise<GuardedChange | null> {
  const edits = await readEdits(request);
  if (edits.length === 0) return null;
  const { before, after } = request;
  const files = edits.filter(({ kind }) => kind === 'file');
  // A suite that did not start listed no tests. Spec files are then recognized by their names.
  const { testFiles } = request.suite;
  const named =
    testFiles.length > 0 ? testFiles : (await before.paths()).filter((file) => isSpecName.test(file));
  const known = { ...request.suite, testFiles: named };
  const old = await readTestCode(before, known, { edits: files });
  const data = await appDataIn(files, before, { ...known, loaded: [...old.reached] });
  const suite = { ...known, loaded: [...old.reached].filter((file) => !data.has(file)) };
  const isAmongTests = testPlaces(suite);
  const isOld = ({ path }: JudgedEdit) =>
    isAmongTests(path) || old.parsed.has(path) || old.unparsable.has(path);
  // If only the app changed, the tests need not be read again.
  const concerns = files.some((edit) => isOld(edit) || (!edit.before && isCode(edit.path)));
  const now = concerns ? await readTestCode(after, suite, { known: old, edits: files }) : old;
  const isTests = (edit: JudgedEdit) =>
    isOld(edit) || now.parsed.has(edit.path) || now.unparsable.has(edit.path);
  const isExpected = missedSnapshots(request.errors ?? []);
  const ofConfig = filesOfConfig(old, suite);
  const whole = [...protectedIn(edits, { isExpected, ofConfig }), ...(await inventedIn(files, before))];
  const cut = [
    ...whole,
    ...files.filter((edit) => !whole.some(({ file }) => file === edit.path)).flatMap((edit) => cutOf(edit)),
  ];
  const rest = files.filter((edit) => !cut.some(({ file }) => file === edit.path));
  const ofTests = rest.filter(isTests);
  return {
    request,
    suite,
    edits,
    cut,
    ofTests,
    cutTests: request.tests === 'cut' ? files.filter(isComparable) : [],
    ofApp: rest.filter((edit) => !isTests(edit)),
    old,
    now,
  };

  function isComparable({ path: file, after }: JudgedEdit): boolean {
    return isCode(file) && !whole.some((cut) => cut.file === file) && (after ? now : old).parsed.has(file);
  }

  /** What belongs to the tests may change for a ui-error alone, and only code can be compared. */
  function cutOf(edit: JudgedEdit): Cut[] {
    const { path: file } = edit;
    const shadowed = [...old.parsed.keys()].find((other) => other !== file && stemOf(other) === stemOf(file));
    const isShadow = !edit.before && isCode(file) && shadowed !== undefined && !isGone(shadowed);
    const cutFor = (why: string) => [{ file, why }];
    if (isShadow) return cutFor(`it may be imported instead of ${shadowed}`);
    if (!isTests(edit)) return [];
    if (request.tests === 'cut')
      return cutFor(`it belongs to the tests, which are read-only for a ${request.category}`);
    if (!isCode(file)) return request.tests === 'open' ? [] : cutFor('it is data that the tests read');
    if (!edit.before && isSpecName.test(file) && request.tests === 'compared')
      return cutFor('it is a new spec file');
    if (edit.after && now.unparsable.has(file)) return cutFor('it cannot be parsed');
    if (edit.before && old.unparsable.has(file))
      return cutFor('it could not be parsed before, so nothing shows what it checked');
    return [];
  }

  function isGone(file: string): boolean {
    return files.some((edit) => edit.path === file && !edit.after);
  }
}

/** An import without an extension may lead to any file of the same stem. */
const stemOf = (file: string) => file.replace(/(?:\/index)?\.[cm]?[jt]sx?$/, '');

async function readEdits({ changes, before, after }: GuardRequest): Promise<JudgedEdit[]> {
  const paths = changes.map((change) => change.path);
  const [olds, news] = await Promise.all([before.read(paths), after.read(paths)]);
  const state = (bytes: Uint8Array | undefined) => (bytes ? fileState(bytes) : null);
  return changes
    .map(({ path, kind = 'file' }) => ({
      path,
      kind,
      before: state(olds.get(path)),
      after: state(news.get(path)),
    }))
    .filter((edit) => edit.kind !== 'file' || !isSameState(edit.before, edit.after));
}

/** Files of variables: `.env`, `.env.local`, `web.env`, `.dev.vars`; samples of them hold values that are meant for everybody. */
const environmentFile = /(?:^|\/)(?:\.env(?:[.-][^/]+)?|\.envrc|\.dev\.vars(?:\.[^/]+)?|[\w.-]+\.env)$/;
const sample = /[.-](?:example|sample|template|dist|schema|defaults)$/i;

/**
 * Finds files of variables that got a value which no such file of the project has for that variable, samples included: nobody but a person knows
 * a key, a password or an address, and an invented one is green for the wrong reason.
 */
async function inventedIn(edits: readonly JudgedEdit[], before: FileSnapshot): Promise<Cut[]> {
  const files = edits.filter(({ path, after }) => after && environmentFile.test(path) && !sample.test(path));
  if (files.length === 0) return [];
  const known = new Set<string>();
  const paths = (await before.paths()).filter((file) => environmentFile.test(file));
  for (const bytes of (await before.read(paths)).values())
    for (const pair of Object.entries(parse(Buffer.from(bytes)))) known.add(pair.join('='));
  return files.flatMap(({ path: file, after }) => {
    const variables = Object.entries(parse(after?.text ?? '')).filter((pair) => !known.has(pair.join('=')));
    const names = variables.map(([name]) => name).join(', ');
    return variables.length === 0 ? [] : [{ file, why: `only a person can say the value of ${names}` }];
  });
}
