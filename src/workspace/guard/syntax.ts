import { parseSync, visitorKeys } from 'oxc-parser';

/** A node of the ESTree that oxc-parser gives, read loosely: the guard asks for few fields of many kinds. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** A file that could be parsed. */
export interface SourceFile {
  /** Relative to the recorded root, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly program: SyntaxNode;
  /** The line, from 1, of an offset. */
  lineAt(offset: number): number;
}

/** Parses JavaScript or TypeScript, by the file's extension; null where the text has a syntax error. */
export function parseSource(path: string, text: string): SourceFile | null {
  const lang = /\.[mc]?ts$/.test(path) ? 'ts' : path.endsWith('.tsx') ? 'tsx' : 'jsx';
  try {
    const { program, errors } = parseSync(path, text, { lang });
    if (errors.some((error) => (error.severity as string) === 'Error')) return null;
    return { path, text, program: program as unknown as SyntaxNode, lineAt: lineIndex(text) };
  } catch {
    return null;
  }
}

function lineIndex(text: string): (offset: number) => number {
  const ends = [...text.matchAll(/\n/g)].map((match) => match.index);
  return (offset) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}

/** Whether a value is a node. */
export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string';
}

/** The node in a field, or null. */
export function nodeIn(node: SyntaxNode, field: string): SyntaxNode | null {
  const value = node[field];
  return isNode(value) ? value : null;
}

/** The nodes in a field that holds a list; holes are left out. */
export function nodesIn(node: SyntaxNode, field: string): SyntaxNode[] {
  const value = node[field];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** Types say nothing at run time. */
const typeFields = new Set([
  'typeAnnotation',
  'returnType',
  'typeArguments',
  'typeParameters',
  'superTypeArguments',
  'decorators',
  'implements',
]);

/** All child nodes but types, in source order. */
export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const fields = visitorKeys[node.type] ?? [];
  return fields.flatMap((field) => {
    if (typeFields.has(field)) return [];
    const value = node[field];
    return Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [];
  });
}

/** Visits a node and everything below it, parents first. */
export function visit(node: SyntaxNode, look: (node: SyntaxNode) => void): void {
  look(node);
  for (const child of childrenOf(node)) visit(child, look);
}

/** The name of an identifier, a property or a string literal, or null. */
export function nameOf(node: SyntaxNode | null): string | null {
  if (!node) return null;
  if (node.type === 'Identifier' || node.type === 'PrivateIdentifier') return String(node['name']);
  if (node.type === 'Literal' && typeof node['value'] === 'string') return node['value'];
  return null;
}

/** The property that a member expression names, or null where it is computed. */
export function propertyOf(node: SyntaxNode): string | null {
  if (node.type !== 'MemberExpression') return null;
  const property = nodeIn(node, 'property');
  return node['computed'] === true && property?.type === 'Identifier' ? null : nameOf(property);
}

/** Without the wrappers that mean nothing at run time. */
export function bare(node: SyntaxNode): SyntaxNode {
  const wrapped = wrappers.has(node.type) ? nodeIn(node, 'expression') : null;
  return wrapped ? bare(wrapped) : node;
}

const wrappers = new Set([
  'TSAsExpression',
  'TSNonNullExpression',
  'TSSatisfiesExpression',
  'TSTypeAssertion',
  'TSInstantiationExpression',
  'ParenthesizedExpression',
  'ChainExpression',
]);

/** Whether it is a function of any kind. */
export function isFunction(node: SyntaxNode): boolean {
  return (
    node.type === 'ArrowFunctionExpression' ||
    node.type === 'FunctionExpression' ||
    node.type === 'FunctionDeclaration'
  );
}

/** The text of a part of a template. */
export function cookedText(node: SyntaxNode): string {
  const { cooked } = (node['value'] ?? {}) as { readonly cooked?: string | null };
  return cooked ?? '';
}
