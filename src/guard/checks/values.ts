import { bare, calleeOf, constantOf, nameOf } from '../../code/expressions.js';
import { nodeIn, nodesIn, nodesOf, type SyntaxNode } from '../../code/syntax.js';
import { chainOf, rootName } from '../../code/test-object.js';

/** Whether a value is hard-coded and not empty; `null`, `false`, `0`, `''`, `[]` and `{}` are empty. */
export function isMadeUp(given: SyntaxNode): boolean {
  return isWritten(given) && (nodesOf(bare(given)).length > 1 || Boolean(constantOf(given)));
}

/** Whether a value is hard-coded: a constant, or a list or object of constants. */
export function isWritten(given: SyntaxNode): boolean {
  const node = bare(given);
  const values = nodesIn(node, 'properties').map((one) => nodeIn(one, 'value') ?? one);
  const isList = /^(?:Array|Object)Expression$/.test(node.type);
  return isList ? [...nodesIn(node, 'elements'), ...values].every(isWritten) : constantOf(node) !== undefined;
}

/** Returns the value of a `return` statement; null for any other node. */
export const valueOf = (node: SyntaxNode) =>
  node.type === 'ReturnStatement' ? nodeIn(node, 'argument') : null;

/** Returns the names of a callee, joined by dots, such as `response.json`; empty if the node is not a call. */
export function chain(node: SyntaxNode): string {
  const callee = calleeOf(node);
  return callee ? [nameOf(rootName(callee)), ...chainOf(callee)].join('.') : '';
}

/** Calls that answer a request, or set up the answer. */
export const answers = /\.(?:json|send|end|text|html|code|status|render)$/;
