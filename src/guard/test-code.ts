import path from 'node:path';
import { createImportResolver, isCode, type OwnPackage } from '../code/imports.js';
import { parseJsonSettings, parseSource, type SourceFile } from '../code/source-file.js';
import { type JudgedEdit, createFileState, type SuitePaths } from './request.js';
import { isSpecName, createTestPathPredicate } from './test-paths.js';
import type { FileSnapshot } from '../workspace/git-trees.js';

/** The test code of one state. */
export interface TestCode {
  readonly parsed: ReadonlyMap<string, SourceFile>;
  /** Files that exist but cannot be parsed. */
  readonly unparsable: ReadonlySet<string>;
  /** All files that the tests and the config import or name in a string, directly or indirectly, with the references of each. */
  readonly references: ReadonlyMap<string, References>;
  readonly reached: ReadonlySet<string>;
}

const MAX_FILES = 5_000;

/**
 * Reads the code of the suite (HN-4), starting from its specs, its config, all code in its folders and edited code that imports its runner. Follows
 * imports in the code, because a run of Playwright loads only the files of its own tests. A reached file belongs to the tests if it is in their
 * folders, uses Playwright itself or imports a file of the tests; otherwise it belongs to the app. Files that are unchanged from `known`, the other
 * state, are not parsed again.
 */
export async function readTestCode(
  tree: FileSnapshot,
  suitePaths: SuitePaths,
  { known, edits }: { known?: TestCode; edits: readonly JudgedEdit[] },
): Promise<TestCode> {
  const paths = new Set(await tree.listPaths());
  const findReferences = createReferenceFinder(paths, await readOwnPackages(tree, paths));
  const isAmongTests = createTestPathPredicate(suitePaths);
  // Some test code, such as step definitions, can be recognized only by its imports, because listing the tests does not load it.
  const importing = edits.filter(({ before, after }) =>
    [before, after].some((state) => importsTest.test(state?.text ?? '')),
  );
  const { testFiles, loaded = [], config } = suitePaths;
  const roots = [...testFiles, ...loaded, config ?? '', ...importing.map((edit) => edit.path)];
  const inTestFolders = [...paths].filter((file) => isCode(file) && isAmongTests(file));
  const reached = new Set([...roots.filter((file) => paths.has(file)), ...inTestFolders]);
  const [references, unparsable] = [new Map<string, References>(), new Set<string>()];
  const [parsed, appEdits] = [new Map<string, SourceFile>(), new Map<string, SourceFile>()];
  for (let next = [...reached]; next.length > 0 && reached.size < MAX_FILES;) {
    const texts = await tree.readFiles(next.filter(isCode));
    next = [];
    for (const [file, bytes] of texts) {
      const { text } = createFileState(bytes);
      const before = known?.parsed.get(file);
      const source = before?.text === text ? before : text === null ? null : parseSource(file, text);
      const isOfTests = isAmongTests(file) || isTestCode(file, text ?? '');
      if (source) (isOfTests ? parsed : appEdits).set(file, source);
      else if (isOfTests) unparsable.add(file);
      const refersTo = findReferences(file, text ?? '', source);
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
    for (const [file, source] of appEdits) if (isImporting(file)) parsed.set(file, source);
  }
  return { parsed, unparsable, references, reached };
}

/** The references of a code file, as paths of the project. */
interface References {
  readonly imports: readonly string[];
  /** Files that a string in it names, such as data that it reads, or a set-up in the config. */
  readonly names: readonly string[];
  /** Files with a unique name with which a string ends, because code may compose the rest of the path. */
  readonly alike: readonly string[];
}

const naming = /['"`]([^'"`\n:*?]{1,200}?\.\w{1,8}|\.{1,2}\/[^'"`\n:*?]{1,200})['"`]/g;

/** Creates a function that returns the references of a text to these files. */
export function createReferenceFinder(paths: ReadonlySet<string>, packages: readonly OwnPackage[] = []) {
  const resolve = createImportResolver(paths, packages);
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
async function readOwnPackages(tree: FileSnapshot, paths: ReadonlySet<string>): Promise<OwnPackage[]> {
  const manifests = [...paths].filter((file) => /(?:^|\/)package\.json$/.test(file));
  return [...(await tree.readFiles(manifests))].flatMap(([file, bytes]) => {
    const folder = path.posix.dirname(file);
    const settings = [...(parseJsonSettings(createFileState(bytes).text ?? '') ?? [])];
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

/** Returns these files, and all files reachable from them by `next`. */
function collectReachable(files: Iterable<string>, next: (file: string) => readonly string[]): Set<string> {
  const all = new Set(files);
  // The loop also visits files that are added during the loop.
  for (const file of all) for (const target of next(file)) all.add(target);
  return all;
}

/** Returns a file and all test files that import it, directly or indirectly. */
export function findImporters({ references, parsed }: TestCode, file: string): SourceFile[] {
  const importing = (target: string) =>
    [...parsed.keys()].filter((importer) => references.get(importer)?.imports.includes(target));
  return [...collectReachable([file], importing)].flatMap((member) => parsed.get(member) ?? []);
}

/**
 * Returns the files of the config: its imports, the code that it names, such as set-ups and reporters, and their imports of test code. A file of the
 * app that a set-up imports still belongs to the app.
 */
export function findConfigFiles(
  { references, parsed }: TestCode,
  { config, testFiles }: SuitePaths,
): ReadonlySet<string> {
  const importsOf = (file: string) => references.get(file)?.imports ?? [];
  const settings = collectReachable(config === null ? [] : [config], importsOf);
  const entries = [...settings]
    .flatMap((file) => references.get(file)?.names ?? [])
    .filter((file) => isCode(file) && !testFiles.includes(file));
  return new Set([
    ...settings,
    ...collectReachable(entries, (file) => importsOf(file).filter((target) => parsed.has(target))),
  ]);
}
