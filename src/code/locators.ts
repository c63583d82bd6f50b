import { childrenOf, constantOf, fieldsOf, isNode, nameOf, nodeIn, nodesIn, propertyOf } from './syntax.js';
import { type SyntaxNode, unwrap, visit } from './syntax.js';

const finding = /^(?:getBy(?:Role|Text|Label|Placeholder|AltText|Title|TestId)|locator|frameLocator)$/;

/** Whether a node is a call that makes a locator. `filter` is one if it is given options: that of a list is given a function. */
export function isLocatorCall(node: SyntaxNode): boolean {
  const method = node.type === 'CallExpression' ? (propertyOf(nodeIn(node, 'callee')) ?? '') : '';
  return (
    finding.test(method) ||
    (method === 'filter' && nodesIn(node, 'arguments')[0]?.type === 'ObjectExpression')
  );
}

/** Returns what a chain of locator calls begins at: `page` of `page.getByRole('row').getByText('Ann')`. */
export function baseOf(given: SyntaxNode): SyntaxNode {
  const node = unwrap(given);
  const object = isLocatorCall(node) ? nodeIn(nodeIn(node, 'callee'), 'object') : null;
  return object ? baseOf(object) : node;
}

/** Returns the calls of a chain of locators, the last one first. */
export function chainOf(given: SyntaxNode): SyntaxNode[] {
  const node = unwrap(given);
  const object = isLocatorCall(node) ? nodeIn(nodeIn(node, 'callee'), 'object') : null;
  return object ? [node, ...chainOf(object)] : [];
}

/** What can be part of what a locator looks for: it has no effect, and takes nothing from the page. */
const plain =
  /^(?:Literal|Template(?:Literal|Element)|Identifier|ThisExpression|MemberExpression|ObjectExpression|Property|ArrayExpression|ParenthesizedExpression)$/;

/** Whether an argument only says what to look for. */
export function isPlain(node: SyntaxNode): boolean {
  const isKnown =
    plain.test(node.type) ||
    isLocatorCall(node) ||
    (node.type === 'BinaryExpression' && node['operator'] === '+');
  return isKnown && node['computed'] !== true && childrenOf(node).every(isPlain);
}

const shownTexts = /^getBy(?:Text|Label|Placeholder|AltText|Title)$/;

/** Returns what people can read of what a locator looks for, each printed; empty if it is found by a selector, a role or a test id alone. */
export function textsOf(locator: SyntaxNode): string[] {
  const found: string[] = [];
  const add = (node: SyntaxNode | null | undefined) => node && found.push(print(node));
  for (const call of chainOf(locator))
    visit(call, (node) => {
      if (node.type === 'Property' && /^(?:name|hasText)$/.test(nameOf(nodeIn(node, 'key')) ?? ''))
        add(nodeIn(node, 'value'));
      if (isLocatorCall(node) && shownTexts.test(propertyOf(nodeIn(node, 'callee')) ?? ''))
        add(nodesIn(node, 'arguments')[0]);
    });
  return found;
}

/** Returns all strings and patterns below a node. */
export function wordsIn(node: SyntaxNode): string[] {
  const words: string[] = [];
  visit(node, (one) => {
    const { pattern } = (one['regex'] ?? {}) as { readonly pattern?: string };
    const { cooked } = (one['value'] ?? {}) as { readonly cooked?: string };
    const word = pattern ?? cooked ?? constantOf(one);
    if (word !== undefined && word !== null && String(word).length > 1) words.push(String(word));
  });
  return words;
}

/** Fields that are layout, or have no effect at run time. */
const silent =
  /^(?:type|start|end|raw|(?:im|ex)portKind|accessibility|readonly|override|declare|definite|abstract|shorthand|tail)$/;

/** Returns a node's own values, as one text: names, operators, literals. */
export function ownValues(node: SyntaxNode): string {
  const value = (one: unknown) =>
    isRecord(one) && 'cooked' in one ? one['cooked'] : one instanceof RegExp ? String(one) : one;
  const fields = new Set(fieldsOf(node));
  const own = Object.entries(node).filter(
    ([key, one]) =>
      !silent.test(key) &&
      !fields.has(key) &&
      one !== null &&
      one !== false &&
      !isNode(one) &&
      !Array.isArray(one),
  );
  return JSON.stringify(own.map(([key, one]) => [key, typeof one === 'bigint' ? String(one) : value(one)]));
}

const isRecord = (one: unknown): one is Record<string, unknown> => typeof one === 'object' && one !== null;

/**
 * Prints a tree, without layout and types, so that equal code has equal prints. `isBlank` leaves out what locators look for.
 */
export function print(given: SyntaxNode, isBlank = false): string {
  const node = unwrap(given);
  const constant = constantOf(node);
  if (constant !== undefined) return JSON.stringify(constant);
  if (isBlank && isLocatorCall(node)) return `‹${print(baseOf(node), true)}›`;
  const parts = fieldsOf(node).map((field) => {
    const value = node[field];
    if (Array.isArray(value)) return value.map((one) => (isNode(one) ? print(one, isBlank) : '')).join();
    return isNode(value) ? print(value, isBlank) : '';
  });
  return `${node.type}${ownValues(node)}(${parts.join(';')})`;
}
