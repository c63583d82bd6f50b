import path from 'node:path';
import { parseSource } from '../code/source-file.js';
import { nodeIn, nodesIn, type SyntaxNode } from '../code/syntax.js';
import { textOf } from './locator-links.js';
import type { Proposal, ProposedFile, Sources, SourceText } from './proposal.js';
import { captured } from './renamed.js';
import { relativePath } from '../relative-path.js';

const code = /\.[cm]?[jt]sx?$/;
/** Messages of Node, TypeScript, Vite, esbuild and webpack about an import that cannot be resolved. */
const notFound =
  /(?:Cannot find module|Failed to resolve import|Could not resolve|Can't resolve|Cannot resolve)\s+["'`]([^"'`\n]+)["'`]/g;

/**
 * Proposes new specifiers for imports that a moved module broke, if the build reports them and exactly one module in the project has that name
 * and exports what is imported (BF-3).
 */
export async function movedModule(said: string, read: () => Promise<Sources>): Promise<Proposal | null> {
  const missing = new Set(captured(said, notFound).map(stemOf));
  if (missing.size === 0) return null;
  const { app, tests } = await read();
  if (app === null) return null;
  const files = [...app, ...tests].filter(({ file }) => code.test(file));
  const here = new Set(files.map(({ file }) => withoutEnding(file)));
  const changed: ProposedFile[] = [];
  const moves = new Set<string>();
  for (const source of files) {
    const lost = importsOf(source).filter(
      ({ from }) => missing.has(stemOf(from)) && !isThere(source.file, from, here),
    );
    if (lost.length === 0) continue;
    const found = lost.map((one) => ({ ...one, to: newPlaces(source, one, files) }));
    if (found.some(({ to }) => to.length !== 1)) return null;
    const after = found
      .toSorted((a, b) => b.start - a.start)
      .reduce((text, { start, end, to }) => text.slice(0, start) + to[0] + text.slice(end), source.text);
    for (const { from, to } of found) moves.add(`"${from}" is now "${to[0]}"`);
    changed.push({ file: source.file, before: source.text, after });
  }
  if (changed.length === 0) return null;
  return { summary: `a module moved: ${[...moves].join(', ')}`, files: changed };
}

interface Import {
  readonly from: string;
  readonly names: readonly string[];
  /** The position of the specifier, without quotes. */
  readonly start: number;
  readonly end: number;
}

/** Returns the relative imports and re-exports of a file. */
function importsOf({ file, text }: SourceText): Import[] {
  const program = parseSource(file, text)?.program;
  if (!program) return [];
  return nodesIn(program, 'body').flatMap((node) => {
    const source = /^(?:Import|ExportNamed|ExportAll)Declaration$/.test(node.type)
      ? nodeIn(node, 'source')
      : null;
    const from = source && textOf(source);
    if (!source || !from?.startsWith('.')) return [];
    return [{ from, names: namesIn(node), start: source.start + 1, end: source.end - 1 }];
  });
}

function namesIn(node: SyntaxNode): string[] {
  return nodesIn(node, 'specifiers').flatMap((one) => {
    if (one.type === 'ImportDefaultSpecifier') return ['default'];
    const name = nodeIn(one, one.type === 'ImportSpecifier' ? 'imported' : 'local');
    return name && one.type !== 'ImportNamespaceSpecifier' ? [String(name['name'] ?? name['value'])] : [];
  });
}

function isThere(importer: string, from: string, here: ReadonlySet<string>): boolean {
  const target = withoutEnding(path.resolve(path.dirname(importer), from));
  return here.has(target) || here.has(path.join(target, 'index'));
}

/** Returns the specifiers of all modules with this name that export what is imported. */
function newPlaces(importer: SourceText, wanted: Import, files: readonly SourceText[]): string[] {
  const stem = stemOf(wanted.from);
  return files.flatMap(({ file, text }) => {
    const isIt = file !== importer.file && stemOf(file) === stem;
    if (!isIt || !wanted.names.every((name) => exports(text, name))) return [];
    const relative = relativePath(path.dirname(importer.file), file);
    const extension = code.exec(wanted.from)?.[0] ?? '';
    const place = `${relative.replace(code, '')}${extension}`;
    return [place.startsWith('.') ? place : `./${place}`];
  });
}

function exports(text: string, name: string): boolean {
  const escaped = name.replaceAll('$', '\\$');
  return new RegExp(`\\bexport\\b[^;]*?\\b${escaped}\\b`).test(text);
}

function stemOf(file: string): string {
  return path.posix.basename(file.replaceAll('\\', '/')).replace(code, '');
}

function withoutEnding(file: string): string {
  return file.replace(code, '');
}
