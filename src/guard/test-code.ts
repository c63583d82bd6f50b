import path from 'node:path';
import { importResolver, isCode, type OwnPackage } from '../code/imports.js';
import { jsonSettings } from '../code/json-settings.js';
import { parseSource, type SourceFile } from '../code/source-file.js';
import { fileState, type FileEdit } from './edit.js';
import { isSpecName, type SuitePlaces, testPlaces } from './test-places.js';
import type { Tree } from '../workspace/tree.js';

/** The test code of one state. */
export interface TestCode {
  readonly parsed: ReadonlyMap<string, SourceFile>;
  /** Files that are there and cannot be read as code. */
  readonly unparsable: ReadonlySet<string>;
  readonly importedFile: (from: string, source: string) => string | null;
  /** Files of the app that the tests import: they are the app's, and judged as such. */
  readonly appModules: ReadonlySet<string>;
}

/**
 * Reads the code of the tests: what lies among them, what they were seen to load, the config, and what those import, where
 * that lies among the tests or knows Playwright itself. What is not among `edits` is taken from `known`, the other state.
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
  const seen = new Set([...[...paths].filter(isAmongTests), ...loaded].filter(isCode));
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
  // What passes on modules of the tests is theirs, too.
  const isOfTests = (source: SourceFile) =>
    source.imports.some((one) => parsed.has(importedFile(source.path, one) ?? ''));
  for (let count = -1; count !== parsed.size;) {
    count = parsed.size;
    for (const [file, source] of ofApp) if (source && isOfTests(source)) parsed.set(file, source);
  }
  const appModules = new Set([...ofApp.keys()].filter((file) => !parsed.has(file)));
  return { parsed, unparsable, appModules, importedFile };
}

/** The packages of the workspace, by which tests import as if they were installed. */
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

/** Data of more characters are known by their name only. */
const isLongData = (file: string, text: string) => !isCode(file) && text.length > 10_000;

function isTestCode(file: string, text: string): boolean {
  return (
    isSpecName.test(file) ||
    /['"](?:@playwright\/test|playwright(?:-core)?)['"]/.test(text) ||
    /global[-_.]?(?:setup|teardown)/i.test(path.posix.basename(file))
  );
}

/** What a file imports; of a config also the files that its texts name (`globalSetup: './setup'`). */
function importsOf({ imports, path: file, text }: SourceFile, config: string | null): readonly string[] {
  if (file !== config) return imports;
  return [...imports, ...[...text.matchAll(/['"`](\.{1,2}\/[^'"`]+)['"`]/g)].map((match) => match[1] ?? '')];
}

/** The changed files and all test files that import one of them, over any number of files. */
export function importersOf({ parsed, importedFile }: TestCode, changed: Iterable<string>): Set<string> {
  const importers = new Map<string, string[]>();
  for (const { path: file, imports } of parsed.values())
    for (const one of imports) {
      const target = importedFile(file, one) ?? '';
      importers.set(target, importers.get(target) ?? []);
      importers.get(target)?.push(file);
    }
  return closure(changed, (file) => importers.get(file) ?? []);
}

/** These files and everything of the tests that they import. */
export function importedBy({ parsed, importedFile }: TestCode, files: Iterable<string>): Set<string> {
  return closure(files, (file) =>
    (parsed.get(file)?.imports ?? []).flatMap((one) => importedFile(file, one) ?? []),
  );
}

function closure(start: Iterable<string>, next: (file: string) => readonly string[]): Set<string> {
  const seen = new Set<string>();
  const open = [...start];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    open.push(...next(file));
  }
  return seen;
}
