import { parseSync } from 'oxc-parser';
import { evaluateConstant, readName, getNode, getNodes, type SyntaxNode, unwrap } from './syntax.js';

/** A parsed file; its tree is built on first access. */
export interface SourceFile {
  /** Relative to the workspace root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly program: SyntaxNode;
  /** The modules that it imports and re-exports from, as written. */
  readonly imports: readonly string[];
  readonly lines: readonly string[];
  /** Returns the line of an offset, counted from 1. */
  lineAt(offset: number): number;
}

/** Turns the text of a JSON file into a module, so that the parser reads both. */
const jsonPrefix = 'export default ';

/** Parses JavaScript, TypeScript or JSON, by the file's extension; returns null on a syntax error. */
export function parseSource(path: string, content: string): SourceFile | null {
  const text = path.endsWith('.json') ? jsonPrefix + content : content;
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
  const lineBreaks = Array.from(text.matchAll(/\n/g), ({ index }) => index);
  return (offset) => {
    let [low, high] = [0, lineBreaks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((lineBreaks[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
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
    for (const property of node.type === 'ObjectExpression' ? getNodes(node, 'properties') : []) {
      const [key, value] = [readName(getNode(property, 'key')), getNode(property, 'value')];
      if (value) add(value, name === '' ? (key ?? '') : `${name}.${key ?? ''}`);
    }
  };
  const [statement] = source ? getNodes(source.program, 'body') : [];
  const value = statement && getNode(statement, 'expression');
  if (value) add(unwrap(value), '');
  return source ? settings : null;
}
