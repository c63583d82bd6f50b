import { nodeIn, nodesIn, type SyntaxNode } from './syntax.js';

/** The name of an identifier, a property or a string literal, or null. */
export function nameOf(node: SyntaxNode | null | undefined): string | null {
  if (!node) return null;
  if (node.type === 'Identifier' || node.type === 'PrivateIdentifier') return String(node['name']);
  if (node.type === 'Literal' && typeof node['value'] === 'string') return node['value'];
  return null;
}

/** The property that a member expression names, or null where it is computed. */
export function propertyOf(node: SyntaxNode | null | undefined): string | null {
  const property = node?.type === 'MemberExpression' ? nodeIn(node, 'property') : null;
  if (!property || node?.['computed'] !== true) return nameOf(property);
  const value = constantOf(property);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

/** What can be said of a value without running it: a text, a number, a truth value, null; `undefined` for all others. */
export function constantOf(given: SyntaxNode): string | number | boolean | null | undefined {
  const node = bare(given);
  if (node.type === 'Literal' && node['regex'] === undefined && node['bigint'] === undefined)
    return node['value'] as string | number | boolean | null;
  if (node.type === 'TemplateLiteral' && nodesIn(node, 'expressions').length === 0)
    return nodesIn(node, 'quasis').map(cookedText).join('');
  if (node.type !== 'BinaryExpression' || node['operator'] !== '+') return undefined;
  const [left, right] = [nodeIn(node, 'left'), nodeIn(node, 'right')];
  const [a, b] = [left && constantOf(left), right && constantOf(right)];
  return typeof a === 'string' && typeof b === 'string' ? a + b : undefined;
}

/** The text of a part of a template. */
export function cookedText(node: SyntaxNode): string {
  const { cooked } = (node['value'] ?? {}) as { readonly cooked?: string | null };
  return cooked ?? '';
}

/** What a call calls; null for what is none. */
export function calleeOf(node: SyntaxNode | null | undefined): SyntaxNode | null {
  return node?.type === 'CallExpression' ? nodeIn(node, 'callee') : null;
}

/** The statements of a function's block, the members of a class. */
export function bodyOf(node: SyntaxNode | null | undefined): SyntaxNode[] {
  return nodesIn(nodeIn(node, 'body'), 'body');
}

/** Whether it is a function of any kind. */
export function isFunction({ type }: SyntaxNode): boolean {
  return /^(?:ArrowFunctionExpression|Function(?:Expression|Declaration))$/.test(type);
}

/** Without the wrappers that mean nothing at run time. */
export function bare(node: SyntaxNode): SyntaxNode {
  const wrapped = wrapper.test(node.type) ? nodeIn(node, 'expression') : null;
  return wrapped ? bare(wrapped) : node;
}

const wrapper =
  /^(?:TS(?:As|NonNull|Satisfies|Instantiation)Expression|TSTypeAssertion|ParenthesizedExpression|ChainExpression)$/;
