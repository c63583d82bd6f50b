import { nodeIn, nodesIn, type SyntaxNode } from './syntax.js';

/** What a function of one expression, or of one `return`, gives back; null where it does more. */
export function returnedValue(made: SyntaxNode): SyntaxNode | null {
  const body = nodeIn(made, 'body');
  if (body?.type !== 'BlockStatement') return body;
  const [only, ...others] = nodesIn(body, 'body');
  return only?.type === 'ReturnStatement' && others.length === 0 ? nodeIn(only, 'argument') : null;
}
