import { bare, calleeOf, nameOf, propertyOf } from './expressions.js';
import { lookUp, type Scope } from './scope.js';
import { nodeIn, type SyntaxNode } from './syntax.js';
import { requiredBy, resolve } from './sources.js';

/** Returns the leftmost name of a chain of members and calls, such as `test` in `test.describe.only('x')`; null if there is none. */
export function rootName(given: SyntaxNode): SyntaxNode | null {
  const node = bare(given);
  if (node.type === 'Identifier') return node;
  const next = node.type === 'MemberExpression' ? nodeIn(node, 'object') : nodeIn(node, 'callee');
  return next ? rootName(next) : null;
}

/** Returns the names of the chain after its root: `['describe', 'only']`. */
export function chainOf(given: SyntaxNode): string[] {
  const node = bare(given);
  if (node.type === 'MemberExpression') {
    const object = nodeIn(node, 'object');
    return [...(object ? chainOf(object) : []), propertyOf(node) ?? '?'];
  }
  const callee = calleeOf(node);
  return callee ? chainOf(callee) : [];
}

/** Whether an expression is Playwright's `test`, under any local name, or a call on it. */
export function isOfTest(node: SyntaxNode | null, scope: Scope): boolean {
  const root = node && rootName(node);
  if (!root) return false;
  const text = String(root['name']);
  if (/^(?:test|it|describe|setup|teardown|testInfo)$/.test(text)) return true;
  const binding = lookUp(text, scope);
  if (binding?.kind === 'import' && binding.name === 'test') return true;
  return binding?.kind === 'value' && originOf(root, scope).endsWith('playwright');
}

/**
 * Returns where `test` ultimately comes from: `playwright`, or the code that replaced it, after the files that extend it:
 * `tests/fixtures.ts < playwright`.
 */
export function originOf(node: SyntaxNode, scope: Scope): string {
  const found = resolve(node, scope);
  if (found.node.type === 'Identifier') {
    const name = String(found.node['name']);
    const binding = lookUp(name, found.scope);
    if (binding?.kind !== 'import') return binding ? 'own code' : `nothing: ${name}`;
    return /playwright/.test(binding.source) ? 'playwright' : binding.source;
  }
  // `require('@playwright/test').expect`
  const of = nodeIn(found.node, 'object');
  const required = of && requiredBy(resolve(of, found.scope).node);
  if (required) return /playwright/.test(required) ? 'playwright' : required;
  const callee = calleeOf(found.node);
  if (/^(?:extend|mergeTests|mergeExpects)$/.test(propertyOf(callee) ?? nameOf(callee) ?? '')) {
    const object = nodeIn(callee, 'object');
    return `${found.scope.file.path} < ${object ? originOf(object, found.scope) : 'playwright'}`;
  }
  return 'own code';
}
