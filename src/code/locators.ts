import {
  listChildren,
  evaluateConstant,
  listChildFields,
  isNode,
  identifierName,
  nodeIn,
  nodesIn,
  propertyOf,
} from './syntax.js';
import { type SyntaxNode, unwrap, visit } from './syntax.js';

const locatorMethod = /^(?:getBy(?:Role|Text|Label|Placeholder|AltText|Title|TestId)|locator|frameLocator)$/;

/** True for a call that creates a locator. `filter` counts only with options, because the `filter` of a list gets a function. */
export function isLocatorCall(node: SyntaxNode): boolean {
  const method = node.type === 'CallExpression' ? (propertyOf(nodeIn(node, 'callee')) ?? '') : '';
  return (
    locatorMethod.test(method) ||
    (method === 'filter' && nodesIn(node, 'arguments')[0]?.type === 'ObjectExpression')
  );
}

/** Returns the start of a chain of locator calls: `page` for `page.getByRole('row').getByText('Ann')`. */
export function findBaseLocator(wrapped: SyntaxNode): SyntaxNode {
  const node = unwrap(wrapped);
  const object = isLocatorCall(node) ? nodeIn(nodeIn(node, 'callee'), 'object') : null;
  return object ? findBaseLocator(object) : node;
}

/** Returns the calls of a chain of locators, the last one first. */
export function listChain(wrapped: SyntaxNode): SyntaxNode[] {
  const node = unwrap(wrapped);
  const object = isLocatorCall(node) ? nodeIn(nodeIn(node, 'callee'), 'object') : null;
  return object ? [node, ...listChain(object)] : [];
}

/** The node types allowed in a plain argument of a locator: they have no effect, and read nothing from the page. */
const plain =
  /^(?:Literal|Template(?:Literal|Element)|Identifier|ThisExpression|MemberExpression|ObjectExpression|Property|ArrayExpression|ParenthesizedExpression)$/;

/** True if an argument only describes the target of a locator. */
export function isPlainLocator(node: SyntaxNode): boolean {
  const isKnown =
    plain.test(node.type) ||
    isLocatorCall(node) ||
    (node.type === 'BinaryExpression' && node['operator'] === '+');
  return isKnown && node['computed'] !== true && listChildren(node).every(isPlainLocator);
}

const shownTexts = /^getBy(?:Text|Label|Placeholder|AltText|Title)$/;

/** Prints the texts in a locator that people can read; empty if it has only a selector, a role or a test id. */
export function listTexts(locator: SyntaxNode): string[] {
  const texts: string[] = [];
  const add = (node: SyntaxNode | null | undefined) => node && texts.push(printLocator(node));
  for (const call of listChain(locator))
    visit(call, (node) => {
      if (node.type === 'Property' && /^(?:name|hasText)$/.test(identifierName(nodeIn(node, 'key')) ?? ''))
        add(nodeIn(node, 'value'));
      if (isLocatorCall(node) && shownTexts.test(propertyOf(nodeIn(node, 'callee')) ?? ''))
        add(nodesIn(node, 'arguments')[0]);
    });
  return texts;
}

/** Returns all strings and patterns below a node. */
export function listWords(node: SyntaxNode): string[] {
  const words: string[] = [];
  visit(node, (part) => {
    const { pattern } = (part['regex'] ?? {}) as { readonly pattern?: string };
    const { cooked } = (part['value'] ?? {}) as { readonly cooked?: string };
    const word = pattern ?? cooked ?? evaluateConstant(part);
    if (word !== undefined && word !== null && String(word).length > 1) words.push(String(word));
  });
  return words;
}

/** Fields for layout, or without effect at run time. */
const ignoredField =
  /^(?:type|start|end|raw|(?:im|ex)portKind|accessibility|readonly|override|declare|definite|abstract|shorthand|tail)$/;

/** Prints a node's own values as one text: names, operators, literals. */
export function printOwnValues(node: SyntaxNode): string {
  const printValue = (field: unknown) =>
    isRecord(field) && 'cooked' in field ? field['cooked'] : field instanceof RegExp ? String(field) : field;
  const fields = new Set(listChildFields(node));
  const own = Object.entries(node).filter(
    ([key, field]) =>
      !ignoredField.test(key) &&
      !fields.has(key) &&
      field !== null &&
      field !== false &&
      !isNode(field) &&
      !Array.isArray(field),
  );
  return JSON.stringify(
    own.map(([key, field]) => [key, typeof field === 'bigint' ? String(field) : printValue(field)]),
  );
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Prints a tree without layout and types, so that equal code prints equally, and without the arguments of locators if `isBlank`. */
export function printLocator(wrapped: SyntaxNode, isBlank = false): string {
  const node = unwrap(wrapped);
  const constant = evaluateConstant(node);
  if (constant !== undefined) return JSON.stringify(constant);
  if (isBlank && isLocatorCall(node)) return `‹${printLocator(findBaseLocator(node), true)}›`;
  const parts = listChildFields(node).map((field) => {
    const child = node[field];
    if (Array.isArray(child))
      return child.map((item) => (isNode(item) ? printLocator(item, isBlank) : '')).join();
    return isNode(child) ? printLocator(child, isBlank) : '';
  });
  return `${node.type}${printOwnValues(node)}(${parts.join(';')})`;
}
