import { parseSync } from 'oxc-parser';
import { evaluateConstant, identifierName, nodeIn, nodesIn, type SyntaxNode, unwrap } from './syntax.js';

/** A parsed file; its tree is built on first access. */
export interface SourceFile {
  /** Relative to the recorded root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly program: SyntaxNode;
  /** The modules that it imports and re-exports from, as written. */
  readonly imports: readonly string[];
  readonly lines: readonly string[];
  /** Returns the line of an offset, counted from 1. */
  lineAt(offset: number): number;
}

/** Prefixed to the text of a JSON file, to parse it as a module that exports the value by default. */
const jsonStart = 'export default ';

/** Parses JavaScript, TypeScript or JSON, by the file's extension; returns null on a syntax error. */
export function parseSource(path: string, content: string): SourceFile | null {
  const text = path.endsWith('.json') ? jsonStart + content : content;
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
      imports: listImports(text, result.module),
      lines: text.split('\n'),
      lineAt: createLineLookup(text),
    };
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return null;
  }
}

/** Returns a function that maps an offset in a text to its line, counted from 1. */
export function createLineLookup(text: string): (offset: number) => number {
  const ends = Array.from(text.matchAll(/\n/g), ({ index }) => index);
  return (offset) => {
    let [before, after] = [0, ends.length];
    while (before < after) {
      const middle = (before + after) >> 1;
      if ((ends[middle] ?? 0) < offset) before = middle + 1;
      else after = middle;
    }
    return before + 1;
  };
}

type ModuleRecord = ReturnType<typeof parseSync>['module'];

function listImports(text: string, { staticImports, staticExports, dynamicImports }: ModuleRecord): string[] {
  const required = [...text.matchAll(/\brequire\s*\(\s*(['"`])([^'"`]+)\1/g)].map((match) => match[2] ?? '');
  const dynamic = dynamicImports.map(({ moduleRequest: { start, end } }) =>
    text.slice(start, end).replaceAll(/^['"`]|['"`]$/g, ''),
  );
  return [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) => entries.flatMap((entry) => entry.moduleRequest?.value ?? [])),
    ...dynamic,
    ...required,
  ];
}

/** Settings by dotted name, such as `compilerOptions.strict`. */
type Settings = ReadonlyMap<string, string>;

/**
 * Parses JSON with comments, as a JavaScript expression. Flattens objects to dotted names; a list keeps its source text. Returns null on a
 * syntax error.
 */
export function parseJsonSettings(text: string): Settings | null {
  const source = parseSource('settings.js', `(${text})`);
  const settings = new Map<string, string>();
  const add = (node: SyntaxNode, name: string): void => {
    if (node.type !== 'ObjectExpression')
      settings.set(name, String(evaluateConstant(node) ?? source?.text.slice(node.start, node.end)));
    for (const property of node.type === 'ObjectExpression' ? nodesIn(node, 'properties') : []) {
      const [key, value] = [identifierName(nodeIn(property, 'key')), nodeIn(property, 'value')];
      if (value) add(value, name === '' ? (key ?? '') : `${name}.${key ?? ''}`);
    }
  };
  const [only] = source ? nodesIn(source.program, 'body') : [];
  const value = only && nodeIn(only, 'expression');
  if (value) add(unwrap(value), '');
  return source ? settings : null;
}
