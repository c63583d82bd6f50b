import path from 'node:path';
import type { Tree } from '../tree.js';
import { importResolver, isCode } from './resolve-import.js';
import { nameOf, nodeIn, parseSource, type SourceFile, visit } from './syntax.js';

/** What a run knows of its suite; paths are relative to the recorded root, with `/`. */
export interface SuitePlaces {
  /** Spec files that Playwright found. */
  readonly testFiles: readonly string[];
  /** Playwright's test directory; empty for the root, null where nobody knows. */
  readonly testDir: string | null;
  readonly config: string | null;
  /** Titles of the tests, without their describe blocks. */
  readonly titles: readonly string[];
}

/** The test code of one state. */
export interface TestCode {
  readonly parsed: readonly SourceFile[];
  /** Files that are there and do not parse. */
  readonly unparsable: readonly string[];
  readonly importedFile: (from: string, source: string) => string | null;
  /** Which files of the project each parsed file imports. */
  readonly imports: ReadonlyMap<string, readonly string[]>;
}

/** Tells what lies among the tests, whatever kind of file it is. */
export function testPlaces({ testFiles, testDir }: SuitePlaces): (file: string) => boolean {
  const known = new Set(testFiles);
  const folders = testDir === null || testDir === '' ? testFiles.flatMap(folderOf) : [testDir];
  const prefixes = [...new Set(folders)].map((folder) => `${folder}/`);
  return (file) => known.has(file) || prefixes.some((prefix) => file.startsWith(prefix));
}

/** Where the tests lie anywhere, the outermost folder that is called after them is theirs; beside the app, none is. */
function folderOf(file: string): string[] {
  const parts = file.split('/').slice(0, -1);
  const index = parts.findIndex((part) =>
    /^(?:__tests__|tests?|e2e|specs?|playwright|integration)$/i.test(part),
  );
  return index === -1 ? [] : [parts.slice(0, index + 1).join('/')];
}

/** What a spec is called by default. */
export const isSpecName = /\.(?:spec|test)\.[mc]?[jt]sx?$/;

/**
 * Reads the code of the tests: what lies among them, the config, and what those import, where that lies among the tests or
 * knows Playwright itself (page objects beside the test directory).
 */
export async function readTestCode(tree: Tree, places: SuitePlaces): Promise<TestCode> {
  const paths = new Set(await tree.paths());
  const importedFile = importResolver(paths);
  const isAmongTests = testPlaces(places);
  const parsed = new Map<string, SourceFile>();
  const unparsable: string[] = [];
  const imports = new Map<string, readonly string[]>();
  const seen = new Set<string>();
  let next = [...paths].filter((file) => isCode(file) && (isAmongTests(file) || file === places.config));
  let sure = true;
  while (next.length > 0) {
    for (const file of next) seen.add(file);
    const found = new Set<string>();
    for (const [file, text] of await tree.read(next)) {
      if (!sure && !isAmongTests(file) && !isTestCode(file, text)) continue;
      const source = parseSource(file, text);
      if (source) parsed.set(file, source);
      else unparsable.push(file);
      if (!source) continue;
      const targets = importsOf(source, file === places.config).flatMap(
        (one) => importedFile(file, one) ?? [],
      );
      imports.set(file, targets);
      for (const target of targets) if (isCode(target) && !seen.has(target)) found.add(target);
    }
    next = [...found];
    sure = false;
  }
  return { parsed: [...parsed.values()], unparsable, importedFile, imports };
}

function isTestCode(file: string, text: string): boolean {
  return (
    isSpecName.test(file) ||
    /['"](?:@playwright\/test|playwright(?:-core)?)['"]/.test(text) ||
    /global[-_.]?(?:setup|teardown)/i.test(path.posix.basename(file))
  );
}

/** What a file imports; of a config also the files that its texts name (`globalSetup: './setup'`). */
function importsOf({ program }: SourceFile, isConfig: boolean): string[] {
  const sources: string[] = [];
  visit(program, (node) => {
    if (/^(?:Import|ExportNamed|ExportAll)Declaration$|^ImportExpression$/.test(node.type)) {
      const source = nameOf(nodeIn(node, 'source'));
      if (source) sources.push(source);
    } else if (node.type === 'CallExpression' && nameOf(nodeIn(node, 'callee')) === 'require') {
      const [first] = (node['arguments'] as readonly (typeof node)[] | undefined) ?? [];
      const source = first ? nameOf(first) : null;
      if (source) sources.push(source);
    } else if (isConfig && node.type === 'Literal') {
      const text = nameOf(node);
      if (text?.startsWith('.')) sources.push(text);
    }
  });
  return sources;
}
