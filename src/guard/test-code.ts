import path from 'node:path';
import { importResolver, isCode, type OwnPackage } from '../code/imports.js';
import { jsonSettings, parseSource, type SourceFile } from '../code/source-file.js';
import { type FileEdit, fileState, type SuitePlaces } from './request.js';
import { isSpecName, testPlaces } from './test-places.js';
import type { Tree } from '../workspace/git-trees.js';

/** The test code of one state. */
export interface TestCode {
  readonly parsed: ReadonlyMap<string, SourceFile>;
  /** Files that exist but cannot be parsed. */
  readonly unparsable: ReadonlySet<string>;
  readonly importedFile: (from: string, source: string) => string | null;
}

/**
 * Reads the code of the tests: code that belongs to them, code that they were seen to load, the config, and what all these import if it
 * belongs to the tests or uses Playwright itself, and edited code that imports its test runner. Files that are not in `edits` are taken from
 * `known`, the other state.
 */
export async function readTestCode(
  tree: Tree,
  places: SuitePlaces,
  { known, edits }: { known?: TestCode; edits: readonly FileEdit[] },
): Promise<TestCode> {
  const paths = new Set(await tree.paths());
  const importedFile = importResolver(paths, await ownPackages(tree, paths));
  const isAmongTests = testPlaces(places);
  const edited = new Set(edits.map((one) => one.path));
  const parsed = new Map<string, SourceFile>();
  const [unparsable, ofApp] = [new Set<string>(), new Map<string, SourceFile | null>()];
  const loaded = (places.loaded ?? []).filter((file) => paths.has(file));
  // Only their imports show that some files are test code, such as the step definitions of features, which listing the tests does not load.
  const imports = edits.filter(({ before, after }) =>
    [before, after].some((state) => importsTest.test(state?.text ?? '')),
  );
  const own = imports.map((edit) => edit.path).filter((file) => paths.has(file));
  const seen = new Set([...[...paths].filter(isAmongTests), ...loaded, ...own].filter(isCode));
  for (let next = [...seen]; next.length > 0;) {
    const isKnown = (file: string) => known?.parsed.has(file) && !edited.has(file);
    const texts = await tree.read(next.filter((file) => !isKnown(file)));
    const sources = next.filter(isKnown).flatMap((file) => known?.parsed.get(file) ?? []);
    for (const [file, bytes] of texts) {
      const { text } = fileState(bytes);
      const source = text === null || isLongData(file, text) ? null : parseSource(file, text);
      if (!isAmongTests(file) && !isTestCode(file, text ?? '')) ofApp.set(file, source);
      else if (source) sources.push(source);
      else if (isCode(file)) unparsable.add(file);
    }
    for (const source of sources) parsed.set(source.path, source);
    const targets = sources.flatMap((source) =>
      importsOf(source, places.config).flatMap((one) => importedFile(source.path, one) ?? []),
    );
    next = [...new Set(targets)].filter((one) => (isCode(one) || one.endsWith('.json')) && !seen.has(one));
    for (const one of next) seen.add(one);
  }
  // A module that imports modules of the tests belongs to the tests, too.
  const isOfTests = (source: SourceFile) =>
    source.imports.some((one) => parsed.has(importedFile(source.path, one) ?? ''));
  for (let count = -1; count !== parsed.size;) {
    count = parsed.size;
    for (const [file, source] of ofApp) if (source && isOfTests(source)) parsed.set(file, source);
  }
  return { parsed, unparsable, importedFile };
}

/** Reads the packages of the workspace, which tests import by name like installed packages. */
async function ownPackages(tree: Tree, paths: ReadonlySet<string>): Promise<OwnPackage[]> {
  const manifests = [...paths].filter((file) => /(?:^|\/)package\.json$/.test(file));
  return [...(await tree.read(manifests))].flatMap(([file, bytes]) => {
    const folder = path.posix.dirname(file);
    const settings = [...(jsonSettings(fileState(bytes).text ?? '') ?? [])];
    const [, name] = settings.find(([key]) => key === 'name') ?? [];
    const given = settings.filter(([key]) => /^(?:exports(?:\.\.[\w.]*)?|main|module)$/.test(key));
    const main = given.map(([, value]) => path.posix.join(folder, value)).find((one) => paths.has(one));
    return name ? [{ name, folder, main: main ?? '' }] : [];
  });
}

/** Playwright's test runner, also for components, or a library that adds Gherkin to it. */
const runner = String.raw`@playwright/(?:test|experimental-ct-[\w-]+(?:/hooks)?)|playwright-bdd`;
const importsTest = new RegExp(String.raw`\b(?:from|import|require\()\s*['"](?:${runner})['"]`);
const namesPlaywright = new RegExp(`['"](?:${runner}|playwright(?:-core)?)['"]`);

/** Whether a data file is too long to be parsed. */
const isLongData = (file: string, text: string) => !isCode(file) && text.length > 10_000;

function isTestCode(file: string, text: string): boolean {
  return (
    isSpecName.test(file) ||
    namesPlaywright.test(text) ||
    /global[-_.]?(?:setup|teardown)/i.test(path.posix.basename(file))
  );
}

/** Returns what a file imports; for the config, also the files that its strings name (`globalSetup: './setup'`). */
function importsOf({ imports, path: file, text }: SourceFile, config: string | null): readonly string[] {
  if (file !== config) return imports;
  return [...imports, ...[...text.matchAll(/['"`](\.{1,2}\/[^'"`]+)['"`]/g)].map((match) => match[1] ?? '')];
}

/** Returns these files and all that they import, directly or through other test files. */
export function importedBy({ parsed, importedFile }: TestCode, files: Iterable<string>): Set<string> {
  const seen = new Set<string>();
  const open = [...files];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    const from = file;
    open.push(...(parsed.get(file)?.imports ?? []).flatMap((one) => importedFile(from, one) ?? []));
  }
  return seen;
}

/** Returns a file and all test files that import it, directly or through others. */
export function importersOf({ parsed, importedFile }: TestCode, file: string): SourceFile[] {
  const found = new Set([file]);
  for (let count = -1; count !== found.size;) {
    count = found.size;
    for (const { path, imports } of parsed.values())
      if (imports.some((one) => found.has(importedFile(path, one) ?? ''))) found.add(path);
  }
  return [...found].flatMap((one) => parsed.get(one) ?? []);
}
