import { callScope } from './read-locator.js';
import { declarePattern, innerScope, type Scope } from './scope.js';
import { nodesIn, type SyntaxNode } from './syntax.js';
import type { TestSources } from './test-sources.js';

/** The scope in which a callback of a test runs: its fixtures go by their names. */
export function parameterScope(node: SyntaxNode, scope: Scope): Scope {
  const within = innerScope(scope);
  nodesIn(node, 'params').forEach((one, index) =>
    declarePattern(one, { scope: within, label: `‹${index}›` }),
  );
  return within;
}

/** The elements of a list that is written out, or null. */
export function elementsOf(list: SyntaxNode, { scope, sources }: { scope: Scope; sources: TestSources }) {
  const found = sources.resolve(list, scope);
  if (found.node.type !== 'ArrayExpression') return null;
  const elements = nodesIn(found.node, 'elements');
  if (elements.some((one) => one.type === 'SpreadElement')) return null;
  return elements.map((one) => sources.resolve(one, found.scope));
}

/** A scope in which a loop's variable is one element. */
export function boundScope(
  parent: Scope,
  { pattern, value, scope }: { pattern: SyntaxNode | null; value: SyntaxNode; scope: Scope },
): Scope {
  const call = { type: 'CallExpression', arguments: [value], start: 0, end: 0 };
  const made = {
    node: { type: 'ArrowFunctionExpression', params: [pattern], start: 0, end: 0 },
    scope: parent,
  };
  return pattern ? callScope(made, { call, scope }) : innerScope(parent);
}
