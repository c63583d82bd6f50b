import { declareAll, innerScope, type Located } from './scope.js';
import { nodeIn, nodesIn, nodesOf, type SyntaxNode } from './syntax.js';

/** Finds the expression that a function returns, with its scope; null if the function does more than declare constants before it. */
export function returnedValue({ node, scope }: Located): Located | null {
  const body = nodeIn(node, 'body');
  if (body?.type !== 'BlockStatement') return body && { node: body, scope };
  const statements = nodesIn(body, 'body');
  const last = statements.pop();
  const value = last?.type === 'ReturnStatement' ? nodeIn(last, 'argument') : null;
  if (!value || !statements.every(isNaming)) return null;
  if (statements.length === 0) return { node: value, scope };
  const within = innerScope(scope);
  declareAll(statements, within);
  return { node: value, scope: within };
}

/** Whether a statement only names a value, as in `const row = page.getByRole('row')`. One that awaits something does more. */
function isNaming(statement: SyntaxNode): boolean {
  const waits = nodesOf(statement).some(({ type }) => type === 'AwaitExpression');
  return statement.type === 'VariableDeclaration' && statement['kind'] === 'const' && !waits;
}
