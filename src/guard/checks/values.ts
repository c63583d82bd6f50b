import { bare, calleeOf, constantOf, nameOf } from '../../code/expressions.js';
import { nodeIn, nodesIn, nodesOf, type SyntaxNode } from '../../code/syntax.js';
import { chainOf, rootName } from '../../code/test-object.js';

/** A value that is written out; `null`, `false` and what is empty say that there is none. */
export function isMadeUp(given: SyntaxNode): boolean {
  return isWritten(given) && (nodesOf(bare(given)).length > 1 || Boolean(constantOf(given)));
}

/** A value that is written out, whatever it says. */
export function isWritten(given: SyntaxNode): boolean {
  const node = bare(given);
  const values = nodesIn(node, 'properties').map((one) => nodeIn(one, 'value') ?? one);
  const isList = /^(?:Array|Object)Expression$/.test(node.type);
  return isList ? [...nodesIn(node, 'elements'), ...values].every(isWritten) : constantOf(node) !== undefined;
}

/** What a `return` gives. */
export const valueOf = (node: SyntaxNode) =>
  node.type === 'ReturnStatement' ? nodeIn(node, 'argument') : null;

/** The names of what is called, joined by dots; empty for what is no call. */
export function chain(node: SyntaxNode): string {
  const callee = calleeOf(node);
  return callee ? [nameOf(rootName(callee)), ...chainOf(callee)].join('.') : '';
}

/** Calls that answer a request, or say how. */
export const answers = /\.(?:json|send|end|text|html|code|status|render)$/;
