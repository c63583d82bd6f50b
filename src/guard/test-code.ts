import path from 'node:path';
import { importResolver, isCode, type OwnPackage } from '../code/imports.js';
import { jsonSettings, parseSource, type SourceFile } from '../code/source-file.js';
import { type JudgedEdit, fileState, type SuitePlaces } from './request.js';
import { isSpecName, testPlaces } from './test-places.js';
import type { FileSnapshot } from '../workspace/git-trees.js';

/** The test code of one state. */
export interface TestCode {
  readonly parsed: ReadonlyMap<string, SourceFile>;
  /** Files that exist but cannot be parsed. */
  readonly unparsable: ReadonlySet<string>;
  /** All files that the tests and the config import or name in a string, directly or through others, with what each refers to. */
  readonly references: ReadonlyMap<string, References>;
  readonly reached: ReadonlySet<string>;
}

const mostFiles = 5_000;

/**
 * Reads what the suite is made of (HN-4), beginning at its specs, its config, all code in its folders and edited code that imports its runner. It is found in
 * the code rather than in what Playwright's processes load: a run loads the files of its own tests only. Of the files that are reached, those
 * belong to the tests that are in their folders, use Playwright itself or import what belongs to the tests; all others are the app's. What is as in
 * `known`, the other state, is not parsed again.
 */
export async function readTestCode(
  tree: FileSnapshot,
  places: SuitePlaces,
  { known, edits }: { known?: TestCode; edits: readonly JudgedEdit[] },
): Promise<TestCode> {
  const paths = new Set(await tree.paths());
  const refer = referencesAmong(paths, await ownPackages(tree, paths));
  const isAmongTests = testPlaces(places);
  // Only their imports show that some files are test code, such as the step definitions of features, which listing the tests does not load.
  const importing = edits.filter(({ before, after }) =>
    [before, after].some((state) => importsTest.test(state?.text ?? '')),
  );
  const { testFiles, loaded = [], config } = places;
  const roots = [...testFiles, ...loaded, config ?? '', ...importing.map((edit) => edit.path)];
  const own = [...paths].filter((file) => isCode(file) && isAmongTests(file));
  const reached = new Set([...roots.filter((file) => paths.has(file)), ...own]);
  const [references, unparsable] = [new Map<string, References>(), new Set<string>()];
  const [parsed, ofApp] = [new Map<string, SourceFile>(), new Map<string, SourceFile>()];
  for (let next = [...reached]; next.length > 0 && reached.size < mostFiles;) {
    const texts = await tree.read(next.filter(isCode));
    next = [];
    for (const [file, bytes] of texts) {
      const { text } = fileState(bytes);
      const before = known?.parsed.get(file);
      const source = before?.text === text ? before : text === null ? null : parseSource(file, text);
      const isOfTests = isAmongTests(file) || isTestCode(file, text ?? '');
      if (source) (isOfTests ? parsed : ofApp).set(file, source);
      else if (isOfTests) unparsable.add(file);
      const refersTo = refer(file, text ?? '', source);
      references.set(file, refersTo);
      const { imports, names, alike } = refersTo;
      for (const target of [...imports, ...names, ...alike]) {
        if (!reached.has(target)) next.push(target);
        reached.add(target);
      }
    }
  }
  const isImporting = (file: string) =>
    references.get(file)?.imports.some((target) => parsed.has(target)) ?? false;
  for (let count = -1; count !== parsed.size;) {
    count = parsed.size;
    for (const [file, source] of ofApp) if (isImporting(file)) parsed.set(file, source);
  }
  return { parsed, unparsable, references, reached };
}

/** What a file of code refers to, as paths of the project. */
interface References {
  readonly imports: readonly string[];
  /** What it names in a string: data that it reads, a set-up in the config. */
  readonly names: readonly string[];
  /** Files that a string ends with the name of, if no other file has that name: code puts paths together. */
  readonly alike: readonly string[];
}

const naming = /['"`]([^'"`\n:*?]{1,200}?\.\w{1,8}|\.{1,2}\/[^'"`\n:*?]{1,200})['"`]/g;

/** Returns a function that says to which of these files a text refers. */
export function referencesAmong(paths: ReadonlySet<string>, packages: readonly OwnPackage[] = []) {
  const resolve = importResolver(paths, packages);
  const byName = new Map<string, string | null>();
  for (const file of paths) {
    if (isCode(file)) continue;
    const name = path.posix.basename(file);
    byName.set(name, byName.has(name) ? null : file);
  }
  return (file: string, text: string, source = parseSource(file, text)): References => {
    const texts = [...text.matchAll(naming)].flatMap(([, name]) => name ?? []);
    const names = texts.flatMap((name) => [
      ...[path.posix.dirname(file), '.'].map((folder) => path.posix.join(folder, name)),
      resolve(file, name) ?? '',
    ]);
    return {
      imports: (source?.imports ?? []).flatMap((module) => resolve(file, module) ?? []),
      names: names.filter((name) => paths.has(name)),
      alike: texts.flatMap((name) => byName.get(path.posix.basename(name)) ?? []),
    };
  };
}

/** Reads the packages of the workspace, which tests import by name like installed packages. */
async function ownPackages(tree: FileSnapshot, paths: ReadonlySet<string>): Promise<OwnPackage[]> {
  const manifests = [...paths].filter((file) => /(?:^|\/)package\.json$/.test(file));
  return [...(await tree.read(manifests))].flatMap(([file, bytes]) => {
    const folder = path.posix.dirname(file);
    const settings = [...(jsonSettings(fileState(bytes).text ?? '') ?? [])];
    const [, name] = settings.find(([key]) => key === 'name') ?? [];
    const entries = settings.filter(([key]) => /^(?:exports(?:\.\.[\w.]*)?|main|module)$/.test(key));
    const main = entries.map(([, value]) => path.posix.join(folder, value)).find((file) => paths.has(file));
    return name ? [{ name, folder, main: main ?? '' }] : [];
  });
}

/** Playwright's test runner, also for components, or a library that adds Gherkin to it. */
const runner = String.raw`@playwright/(?:test|experimental-ct-[\w-]+(?:/hooks)?)|playwright-bdd`;
const importsTest = new RegExp(String.raw`\b(?:from|import|require\()\s*['"](?:${runner})['"]`);
const namesPlaywright = new RegExp(`['"](?:${runner}|playwright(?:-core)?)['"]`);

function isTestCode(file: string, text: string): boolean {
  return (
    isSpecName.test(file) ||
    namesPlaywright.test(text) ||
    /global[-_.]?(?:setup|teardown)/i.test(path.posix.basename(file))
  );
}

/** Returns these files, and all that `next` leads to from them. */
function closure(files: Iterable<string>, next: (file: string) => readonly string[]): Set<string> {
  const all = new Set(files);
  // The loop also visits what is added to the set meanwhile.
  for (const file of all) for (const target of next(file)) all.add(target);
  return all;
}

/** Returns a file and all test files that import it, directly or through others. */
export function importersOf({ references, parsed }: TestCode, file: string): SourceFile[] {
  const importing = (target: string) =>
    [...parsed.keys()].filter((importer) => references.get(importer)?.imports.includes(target));
  return [...closure([file], importing)].flatMap((member) => parsed.get(member) ?? []);
}

/**
 * Returns what makes up the config: all that it imports, the code that it names, such as set-ups and reporters, and what of the tests' code these
 * import in turn. A file of the app that a set-up imports remains the app's.
 */
export function filesOfConfig(
  { references, parsed }: TestCode,
  { config, testFiles }: SuitePlaces,
): ReadonlySet<string> {
  const importsOf = (file: string) => references.get(file)?.imports ?? [];
  const settings = closure(config === null ? [] : [config], importsOf);
  const entries = [...settings]
    .flatMap((file) => references.get(file)?.names ?? [])
    .filter((file) => isCode(file) && !testFiles.includes(file));
  return new Set([
    ...settings,
    ...closure(entries, (file) => importsOf(file).filter((target) => parsed.has(target))),
  ]);
}
