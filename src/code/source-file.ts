import { parseSync } from 'oxc-parser';
import type { SyntaxNode } from './syntax.js';

/** A file that could be parsed; the tree is made when it is first asked for. */
export interface SourceFile {
  /** Relative to the recorded root, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly program: SyntaxNode;
  /** What it imports and exports from, as it is written there. */
  readonly imports: readonly string[];
  readonly lines: readonly string[];
  /** The line, from 1, of an offset. */
  lineAt(offset: number): number;
}

/** What stands before the text of a JSON file, which is a module whose default export it is. */
export const jsonStart = 'export default ';

/** Parses JavaScript, TypeScript or JSON, by the file's extension; null where the text has a syntax error. */
export function parseSource(path: string, given: string): SourceFile | null {
  const text = path.endsWith('.json') ? jsonStart + given : given;
  const lang = /\.[mc]?ts$/.test(path) ? 'ts' : path.endsWith('.tsx') ? 'tsx' : 'jsx';
  try {
    const result = parseSync(path, text, { lang });
    if (result.errors.some((error) => (error.severity as string) === 'Error')) return null;
    let program: SyntaxNode | null = null;
    return {
      path,
      text,
      get program() {
        program ??= result.program as unknown as SyntaxNode;
        return program;
      },
      imports: importsOf(text, result.module),
      lines: text.split('\n'),
      lineAt: linesOf(text),
    };
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return null;
  }
}

/** Tells the line, from 1, of an offset in a text. */
export function linesOf(text: string): (offset: number) => number {
  const ends = [...text.matchAll(/\n/g), { index: text.length }].map(({ index }) => index);
  return (offset) => ends.findIndex((end) => end >= offset) + 1;
}

type ModuleRecord = ReturnType<typeof parseSync>['module'];

function importsOf(text: string, { staticImports, staticExports, dynamicImports }: ModuleRecord): string[] {
  const required = [...text.matchAll(/\brequire\s*\(\s*(['"`])([^'"`]+)\1/g)].map((match) => match[2] ?? '');
  const dynamic = dynamicImports.map(({ moduleRequest: { start, end } }) =>
    text.slice(start, end).replaceAll(/^['"`]|['"`]$/g, ''),
  );
  return [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) => entries.flatMap((one) => one.moduleRequest?.value ?? [])),
    ...dynamic,
    ...required,
  ];
}

/** The place of a node, with the text of its line. */
export function placeOf(file: SourceFile, node: SyntaxNode): Place {
  const line = file.lineAt(node.start);
  return { file: file.path, line, source: (file.lines[line - 1] ?? '').trim().slice(0, 200) };
}

/** A line of a file. */
export interface Place {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly source: string;
}
