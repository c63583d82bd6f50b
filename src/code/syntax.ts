import { visitorKeys } from 'oxc-parser';

/** A node of the ESTree that oxc-parser produces. Loosely typed, since callers read few fields of many node types. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string';
}

/** Returns the node in a field; null if there is none, or no parent node. */
export function getNode(node: SyntaxNode | null | undefined, field: string): SyntaxNode | null {
  const value = node?.[field];
  return isNode(value) ? value : null;
}

/** Returns the nodes in a list field, without holes; empty if there is no list. */
export function getNodes(node: SyntaxNode | null | undefined, field: string): SyntaxNode[] {
  const value = node?.[field];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** Fields that hold types, which have no effect at run time. */
const typeField =
  /^(?:typeAnnotation|returnType|typeArguments|typeParameters|superTypeArguments|implements)$/;

const fields = new Map(
  Object.entries(visitorKeys).map(([type, all]) => [type, all.filter((field) => !typeField.test(field))]),
);

/** Returns the fields that hold a node's children, without types, in source order. */
export function listChildFields({ type }: SyntaxNode): readonly string[] {
  return fields.get(type) ?? [];
}

/** Returns all child nodes except types, in source order. */
export function listChildren(node: SyntaxNode): SyntaxNode[] {
  return listChildFields(node).flatMap((field) => {
    const value = node[field];
    return Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [];
  });
}

/** Visits a node and everything below it, parents first. */
export function visit(node: SyntaxNode, onNode: (node: SyntaxNode) => void): void {
  onNode(node);
  for (const child of listChildren(node)) visit(child, onNode);
}

/** Returns a node and all its descendants, parents first; empty for null. */
export function listNodes(node: SyntaxNode | null): SyntaxNode[] {
  const nodes: SyntaxNode[] = [];
  if (node) visit(node, (part) => nodes.push(part));
  return nodes;
}

/** Returns the name of an identifier, or the text of a string literal; null for any other node. */
export function readName(node: SyntaxNode | null | undefined): string | null {
  if (!node) return null;
  if (/^(?:JSX|Private)?Identifier$/.test(node.type)) return String(node['name']);
  if (node.type === 'Literal' && typeof node['value'] === 'string') return node['value'];
  return null;
}

/** Returns the property name of a member expression; null if only running the code would show it. */
export function getProperty(node: SyntaxNode | null | undefined): string | null {
  const property = node?.type === 'MemberExpression' ? getNode(node, 'property') : null;
  if (!property || node?.['computed'] !== true) return readName(property);
  const value = evaluateConstant(property);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

/** Returns the name that ends an identifier or a member expression: `b` for `b` and for `a.b`; empty if there is none. */
export function readLastName(node: SyntaxNode | null | undefined): string {
  return getProperty(node) ?? readName(node) ?? '';
}

/** Evaluates a constant expression to a string, number, boolean or null; `undefined` for any other expression. */
export function evaluateConstant(wrapped: SyntaxNode): string | number | boolean | null | undefined {
  const node = unwrap(wrapped);
  if (node.type === 'Literal' && node['regex'] === undefined && node['bigint'] === undefined)
    return node['value'] as string | number | boolean | null;
  if (node.type === 'TemplateLiteral' && getNodes(node, 'expressions').length === 0)
    return getNodes(node, 'quasis').map(readTemplate).join('');
  if (node.type !== 'BinaryExpression' || node['operator'] !== '+') return undefined;
  // Right side first: the left one may be a long sum, which matters only if the right one is a string.
  const [left, right] = [getNode(node, 'left'), getNode(node, 'right')];
  const end = right && evaluateConstant(right);
  const start = left && typeof end === 'string' ? evaluateConstant(left) : undefined;
  return typeof start === 'string' ? `${start}${end}` : undefined;
}

/** Returns the text of a template element, with escape sequences resolved. */
export function readTemplate(node: SyntaxNode): string {
  const { cooked } = (node['value'] ?? {}) as { readonly cooked?: string | null };
  return cooked ?? '';
}

export function getCallee(node: SyntaxNode | null | undefined): SyntaxNode | null {
  return node?.type === 'CallExpression' ? getNode(node, 'callee') : null;
}

export function isFunction({ type }: SyntaxNode): boolean {
  return /^(?:ArrowFunctionExpression|Function(?:Expression|Declaration))$/.test(type);
}

/** True for a node without effect at run time, such as parentheses or a type assertion. */
export function isWrapper({ type }: SyntaxNode): boolean {
  return /^(?:TS(?:As|NonNull|Satisfies|Instantiation)Expression|TSTypeAssertion|ParenthesizedExpression|ChainExpression)$/.test(
    type,
  );
}

/** Removes all such wrappers around an expression. */
export function unwrap(node: SyntaxNode): SyntaxNode {
  const wrapped = isWrapper(node) ? getNode(node, 'expression') : null;
  return wrapped ? unwrap(wrapped) : node;
}
