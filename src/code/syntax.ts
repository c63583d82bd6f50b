import { parseSync, visitorKeys } from 'oxc-parser';

/** A node of the ESTree that oxc-parser gives, read loosely: the guard asks for few fields of many kinds. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

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

/** Whether a value is a node. */
export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string';
}

/** The node in a field, or null; so it is of nothing. */
export function nodeIn(node: SyntaxNode | null | undefined, field: string): SyntaxNode | null {
  const value = node?.[field];
  return isNode(value) ? value : null;
}

/** The nodes in a field that holds a list; holes are left out. */
export function nodesIn(node: SyntaxNode | null | undefined, field: string): SyntaxNode[] {
  const value = node?.[field];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** Fields of nodes that hold types, which say nothing at run time. */
const typeField =
  /^(?:typeAnnotation|returnType|typeArguments|typeParameters|superTypeArguments|implements)$/;

/** Fields of nodes that stand in no file: the links of a chain of calls, the words of a text. */
const ownFields: Readonly<Record<string, readonly string[]>> = {
  Chain: ['links'],
  Link: ['property', 'arguments'],
  Text: ['parts'],
};

const fields = new Map(
  Object.entries({ ...visitorKeys, ...ownFields }).map(([type, all]) => [
    type,
    all.filter((field) => !typeField.test(field)),
  ]),
);

/** The fields that hold a node's parts, without types, in source order. */
export function fieldsOf({ type }: SyntaxNode): readonly string[] {
  return fields.get(type) ?? [];
}

/** All child nodes but types, in source order. */
export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  return fieldsOf(node).flatMap((field) => {
    const value = node[field];
    return Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [];
  });
}

/** Visits a node and everything below it, parents first. */
export function visit(node: SyntaxNode, look: (node: SyntaxNode) => void): void {
  look(node);
  for (const child of childrenOf(node)) visit(child, look);
}

/** A node and everything below it, parents first; nothing for nothing. */
export function nodesOf(node: SyntaxNode | null): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  if (node) visit(node, (one) => found.push(one));
  return found;
}

/** A node that stands in no file: `object.name`, or `object[0]` for a number. */
export function memberNode(object: SyntaxNode, name: string | number): SyntaxNode {
  const at = { start: object.start, end: object.end };
  const property =
    typeof name === 'number'
      ? { type: 'Literal', value: name, raw: String(name), ...at }
      : { type: 'Identifier', name, ...at };
  return { type: 'MemberExpression', object, property, computed: typeof name === 'number', ...at };
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
