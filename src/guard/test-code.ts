import path from 'node:path';
import { createImportResolver, isCode, type LocalPackage } from '../code/imports.js';
import { parseJsonSettings, parseSource, type SourceFile } from '../code/source-file.js';
import { type JudgedEdit, createFileState, type SuitePaths } from './request.js';
import { specName, createTestPathPredicate } from './test-paths.js';
import type { FileSnapshot } from '../workspace/git-trees.js';

/** The test code before or after a change. */
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
 * folders, uses Playwright itself or imports a file of the tests; otherwise it belongs to the app. Files that are unchanged since
 * `oldCode` are not parsed again.
 */
export async function readTestCode(
  tree: FileSnapshot,
  suitePaths: SuitePaths,
  { oldCode, edits }: { oldCode?: TestCode; edits: readonly JudgedEdit[] },
): Promise<TestCode> {
  const paths = new Set(await tree.listPaths());
  const findReferences = createReferenceFinder(paths, await readLocalPackages(tree, paths));
  const isTestPath = createTestPathPredicate(suitePaths);
  // Some test code, such as step definitions, can be recognized only by its imports, because listing the tests does not load it.
  const importers = edits.filter(({ before, after }) =>
    [before, after].some((state) => importsTest.test(state?.text ?? '')),
  );
  const { testFiles, loaded = [], config } = suitePaths;
  const entryFiles = [...testFiles, ...loaded, config ?? '', ...importers.map((edit) => edit.path)];
  const filesInTestFolders = [...paths].filter((file) => isCode(file) && isTestPath(file));
  const reached = new Set([...entryFiles.filter((file) => paths.has(file)), ...filesInTestFolders]);
  const [references, unparsable] = [new Map<string, References>(), new Set<string>()];
  const [parsed, appFiles] = [new Map<string, SourceFile>(), new Map<string, SourceFile>()];
  for (let next = [...reached]; next.length > 0 && reached.size < MAX_FILES;) {
    const texts = await tree.readFiles(next.filter(isCode));
    next = [];
    for (const [file, bytes] of texts) {
      const { text } = createFileState(bytes);
      const before = oldCode?.parsed.get(file);
      const source = before?.text === text ? before : text === null ? null : parseSource(file, text);
      const isTest = isTestPath(file) || isTestCode(file, text ?? '');
      if (source) (isTest ? parsed : appFiles).set(file, source);
      else if (isTest) unparsable.add(file);
      const found = findReferences(file, text ?? '', source);
      references.set(file, found);
      const { imports, names, byUniqueName } = found;
      for (const target of [...imports, ...names, ...byUniqueName]) {
        if (!reached.has(target)) next.push(target);
        reached.add(target);
      }
    }
  }
  const importsTests = (file: string) =>
    references.get(file)?.imports.some((target) => parsed.has(target)) ?? false;
  for (let sizeBefore = -1; sizeBefore !== parsed.size;) {
    sizeBefore = parsed.size;
    for (const [file, source] of appFiles) if (importsTests(file)) parsed.set(file, source);
  }
  return { parsed, unparsable, references, reached };
}

/** The references in a code file, as paths in the project. */
interface References {
  readonly imports: readonly string[];
  /** Files named in a string, such as data that it reads, or a setup in the config. */
  readonly names: readonly string[];
  /** Files with a unique name that ends a string, since code may build the rest of the path. */
  readonly byUniqueName: readonly string[];
}

const quotedPath = /['"`]([^'"`\n:*?]{1,200}?\.\w{1,8}|\.{1,2}\/[^'"`\n:*?]{1,200})['"`]/g;

/** Creates a function that returns the references of a text to these files. */
export function createReferenceFinder(paths: ReadonlySet<string>, packages: readonly LocalPackage[] = []) {
  const resolve = createImportResolver(paths, packages);
  const byName = new Map<string, string | null>();
  for (const file of paths) {
    if (isCode(file)) continue;
    const name = path.posix.basename(file);
    byName.set(name, byName.has(name) ? null : file);
  }
  return (file: string, text: string, source = parseSource(file, text)): References => {
    const texts = [...text.matchAll(quotedPath)].flatMap(([, name]) => name ?? []);
    const names = texts.flatMap((name) => [
      ...[path.posix.dirname(file), '.'].map((folder) => path.posix.join(folder, name)),
      resolve(file, name) ?? '',
    ]);
    return {
      imports: (source?.imports ?? []).flatMap((module) => resolve(file, module) ?? []),
      names: names.filter((name) => paths.has(name)),
      byUniqueName: texts.flatMap((name) => byName.get(path.posix.basename(name)) ?? []),
    };
  };
}

/** Reads the packages of the workspace, which tests import by name like installed packages. */
async function readLocalPackages(tree: FileSnapshot, paths: ReadonlySet<string>): Promise<LocalPackage[]> {
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
    specName.test(file) ||
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
  const listImporters = (target: string) =>
    [...parsed.keys()].filter((importer) => references.get(importer)?.imports.includes(target));
  return [...collectReachable([file], listImporters)].flatMap((member) => parsed.get(member) ?? []);
}

/**
 * Returns the files of the config: its imports, the code that it names, such as setups and reporters, and their imports of test code. A file of the
 * app that a setup imports still belongs to the app.
 */
export function findConfigFiles(
  { references, parsed }: TestCode,
  { config, testFiles }: SuitePaths,
): ReadonlySet<string> {
  const listImports = (file: string) => references.get(file)?.imports ?? [];
  const settings = collectReachable(config === null ? [] : [config], listImports);
  const entries = [...settings]
    .flatMap((file) => references.get(file)?.names ?? [])
    .filter((file) => isCode(file) && !testFiles.includes(file));
  return new Set([
    ...settings,
    ...collectReachable(entries, (file) => listImports(file).filter((target) => parsed.has(target))),
  ]);
}
