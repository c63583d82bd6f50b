import path from 'node:path';
import { importResolver, isCode } from '../code/imports.js';
import { parseSource } from '../code/source-file.js';
import type { Cut } from '../model/guard-findings.js';
import type { Tree } from '../workspace/git-trees.js';
import { appDataIn, isSpecName, testPlaces } from './test-places.js';
import { type FileEdit, fileState, type GuardRequest, isSameState, type SuitePlaces } from './request.js';
import { missedSnapshots, protectedIn } from './protected.js';
import { readTestCode, type TestCode } from './test-code.js';
import { parse } from 'dotenv';

/** A change without what is cut from it: the edits of the tests and those of the app, and the test code in both states. */
export interface Change {
  readonly request: GuardRequest;
  readonly suite: SuitePlaces;
  readonly edits: readonly FileEdit[];
  readonly cut: readonly Cut[];
  readonly ofTests: readonly FileEdit[];
  /** Code of the tests that is cut, which is only compared to say what it changes. */
  readonly cutTests: readonly FileEdit[];
  readonly ofApp: readonly FileEdit[];
  readonly old: TestCode;
  readonly now: TestCode;
}

/** Reads what changed, and cuts what may not; null if nothing changed. */
export async function readChange(request: GuardRequest): Promise<Change | null> {
  const edits = await readEdits(request);
  if (edits.length === 0) return null;
  const { before, after } = request;
  const files = edits.filter(({ kind }) => kind === 'file');
  // A suite that did not start listed no tests. Spec files are then recognized by their names.
  const { testFiles } = request.suite;
  const named =
    testFiles.length > 0 ? testFiles : (await before.paths()).filter((one) => isSpecName.test(one));
  const { config } = request.suite;
  const loaded = await filesOfTests(before, config === null ? named : [...named, config]);
  const known = { ...request.suite, testFiles: named, loaded };
  const data = await appDataIn(files, before, known);
  const suite = { ...known, loaded: loaded.filter((file) => !data.has(file)) };
  const isAmongTests = testPlaces(suite);
  const old = await readTestCode(before, suite, { edits: files });
  const isOld = ({ path }: FileEdit) =>
    isAmongTests(path) || old.parsed.has(path) || old.unparsable.has(path);
  // If only the app changed, the tests need not be read again.
  const concerns = files.some((edit) => isOld(edit) || (!edit.before && isCode(edit.path)));
  const read = (tree: Tree) => readTestCode(tree, suite, { known: old, edits: files });
  const now = concerns ? await read(after) : old;
  const isTests = (edit: FileEdit) =>
    isOld(edit) || now.parsed.has(edit.path) || now.unparsable.has(edit.path);
  const isExpected = missedSnapshots(request.errors ?? []);
  const isTestCode = (file: string) => old.parsed.has(file);
  const ofConfig = await filesOfConfig(before, config, { testFiles: named, isTests: isTestCode });
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
    now: ofTests.length > 0 && cut.length > 0 ? await read(withoutCut(request, cut)) : now,
  };

  function isComparable({ path: file, after }: FileEdit): boolean {
    return isCode(file) && !whole.some((one) => one.file === file) && (after ? now : old).parsed.has(file);
  }

  /** What belongs to the tests may change for a ui-error alone, and only code can be compared. */
  function cutOf(edit: FileEdit): Cut[] {
    const { path: file } = edit;
    const shadowed = [...old.parsed.keys()].find((one) => one !== file && stemOf(one) === stemOf(file));
    const isShadow = !edit.before && isCode(file) && shadowed !== undefined && !isGone(shadowed);
    const told = (why: string) => [{ file, why }];
    if (isShadow) return told(`it may be imported instead of ${shadowed}`);
    if (!isTests(edit)) return [];
    if (request.tests === 'cut')
      return told(`it belongs to the tests, which are read-only for a ${request.category}`);
    if (!isCode(file)) return request.tests === 'open' ? [] : told('it is data that the tests read');
    if (!edit.before && isSpecName.test(file) && request.tests === 'compared')
      return told('it is a new spec file');
    if (edit.after && now.unparsable.has(file)) return told('it cannot be parsed');
    if (edit.before && old.unparsable.has(file))
      return told('it could not be parsed before, so nothing shows what it checked');
    return [];
  }

  function isGone(file: string): boolean {
    return files.some((edit) => edit.path === file && !edit.after);
  }
}

/** An import without an extension may lead to any file of the same stem. */
const stemOf = (file: string) => file.replace(/(?:\/index)?\.[cm]?[jt]sx?$/, '');

/** The state after the change, with what is cut as it was before. */
function withoutCut({ before, after }: GuardRequest, cut: readonly Cut[]): Tree {
  const files = new Set(cut.map(({ file }) => file));
  return {
    paths: async () => {
      const old = (await before.paths()).filter((file) => files.has(file));
      return [...(await after.paths()).filter((file) => !files.has(file)), ...old];
    },
    read: async (paths) =>
      new Map([
        ...(await after.read(paths.filter((file) => !files.has(file)))),
        ...(await before.read(paths.filter((file) => files.has(file)))),
      ]),
  };
}

async function readEdits({ changes, before, after }: GuardRequest): Promise<FileEdit[]> {
  const paths = changes.map((one) => one.path);
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

const mostFiles = 5_000;
/** A file name in a string of the test code: data that it reads, a set-up that the config names. */
const named = /['"`]([^'"`\n:*?]{1,200}?\.\w{1,8}|\.{1,2}\/[^'"`\n:*?]{1,200})['"`]/g;

/**
 * Returns the files that belong to a suite, given its specs and config: these, and what they import or name in a string, directly or through
 * others. Found in the code rather than in what Playwright's processes load: a run loads the files of its own tests only, and nothing
 * has to be preloaded into it. A name that code puts together is found if its last part is written out and just one file of the
 * project ends with it. Paths are relative to the tree's root.
 */
export async function filesOfTests(tree: Tree, specs: Iterable<string>): Promise<string[]> {
  const paths = new Set(await tree.paths());
  const refer = referencesAmong(paths);
  const seen = new Set([...specs].filter((file) => paths.has(file)));
  for (let next = [...seen]; next.length > 0 && seen.size < mostFiles;) {
    const texts = await tree.read(next.filter(isCode));
    next = [];
    for (const [file, bytes] of texts) {
      const { imports, names, alike } = refer(file, Buffer.from(bytes).toString('utf8'));
      for (const one of [...imports, ...names, ...alike])
        if (!seen.has(one)) {
          seen.add(one);
          next.push(one);
        }
    }
  }
  return [...seen];
}

/** Returns a function that says which of these files a text imports, which it names in a string, and which have a name `alike`, wherever they are. */
export function referencesAmong(paths: ReadonlySet<string>) {
  const resolve = importResolver(paths);
  const byName = new Map<string, string | null>();
  for (const file of paths) {
    if (isCode(file)) continue;
    const name = path.posix.basename(file);
    byName.set(name, byName.has(name) ? null : file);
  }
  return (file: string, text: string) => {
    const said = [...text.matchAll(named)].flatMap(([, name]) => name ?? []);
    const names = said.flatMap((name) => [
      ...[path.posix.dirname(file), '.'].map((folder) => path.posix.join(folder, name)),
      resolve(file, name) ?? '',
    ]);
    const alike = said.flatMap((name) => byName.get(path.posix.basename(name)) ?? []);
    const imports = (parseSource(file, text)?.imports ?? []).flatMap((one) => resolve(file, one) ?? []);
    return { imports, names: names.filter((one) => paths.has(one)), alike };
  };
}

/**
 * Returns what makes up the config: all that it imports, the code that it names, such as set-ups and reporters, and what of the tests' code these
 * import in turn. A file of the app that a set-up imports remains the app's.
 */
async function filesOfConfig(
  tree: Tree,
  config: string | null,
  { testFiles, isTests }: { testFiles: readonly string[]; isTests: (file: string) => boolean },
): Promise<ReadonlySet<string>> {
  const refer = referencesAmong(new Set(await tree.paths()));
  const seen = new Set(config === null ? [] : [config]);
  const settings = new Set(seen);
  for (let next = [...seen]; next.length > 0;) {
    const texts = await tree.read(next.filter(isCode));
    next = [];
    for (const [file, bytes] of texts) {
      const { imports, names } = refer(file, Buffer.from(bytes).toString('utf8'));
      const isSetting = settings.has(file);
      const entries = isSetting ? names.filter((one) => isCode(one) && !testFiles.includes(one)) : [];
      const own = isSetting ? imports : imports.filter(isTests);
      for (const one of [...own, ...entries])
        if (!seen.has(one)) {
          seen.add(one);
          if (isSetting && own.includes(one)) settings.add(one);
          next.push(one);
        }
    }
  }
  return seen;
}

/** Files of variables: `.env`, `.env.local`, `web.env`, `.dev.vars`; samples of them hold values that are meant for everybody. */
const environmentFile = /(?:^|\/)(?:\.env(?:[.-][^/]+)?|\.envrc|\.dev\.vars(?:\.[^/]+)?|[\w.-]+\.env)$/;
const sample = /[.-](?:example|sample|template|dist|schema|defaults)$/i;

/**
 * Finds files of variables that got a value which no such file of the project has for that variable, samples included: nobody but a person knows
 * a key, a password or an address, and an invented one is green for the wrong reason.
 */
async function inventedIn(edits: readonly FileEdit[], before: Tree): Promise<Cut[]> {
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
