import {
  listChildren,
  evaluateConstant,
  listChildFields,
  isNode,
  readName,
  getNode,
  getNodes,
  getProperty,
} from './syntax.js';
import { type SyntaxNode, unwrap, visit } from './syntax.js';

const locatorMethod = /^(?:getBy(?:Role|Text|Label|Placeholder|AltText|Title|TestId)|locator|frameLocator)$/;

/** True for a call that creates a locator. `filter` counts only with options, because an array's `filter` takes a function. */
export function isLocatorCall(node: SyntaxNode): boolean {
  const method = node.type === 'CallExpression' ? (getProperty(getNode(node, 'callee')) ?? '') : '';
  return (
    locatorMethod.test(method) ||
    (method === 'filter' && getNodes(node, 'arguments')[0]?.type === 'ObjectExpression')
  );
}

/** Returns the start of a chain of locator calls: `page` for `page.getByRole('row').getByText('Ann')`. */
export function findBaseLocator(wrapped: SyntaxNode): SyntaxNode {
  const node = unwrap(wrapped);
  const object = isLocatorCall(node) ? getNode(getNode(node, 'callee'), 'object') : null;
  return object ? findBaseLocator(object) : node;
}

/** Returns the calls of a chain of locators, the last one first. */
export function listChain(wrapped: SyntaxNode): SyntaxNode[] {
  const node = unwrap(wrapped);
  const object = isLocatorCall(node) ? getNode(getNode(node, 'callee'), 'object') : null;
  return object ? [node, ...listChain(object)] : [];
}

/** The node types allowed in a plain argument of a locator: they have no effect, and read nothing from the page. */
const plainType =
  /^(?:Literal|Template(?:Literal|Element)|Identifier|ThisExpression|MemberExpression|ObjectExpression|Property|ArrayExpression|ParenthesizedExpression)$/;

/** True if an argument only describes the target of a locator. */
export function isPlainArgument(node: SyntaxNode): boolean {
  const isPlain =
    plainType.test(node.type) ||
    isLocatorCall(node) ||
    (node.type === 'BinaryExpression' && node['operator'] === '+');
  return isPlain && node['computed'] !== true && listChildren(node).every(isPlainArgument);
}

const textLocator = /^getBy(?:Text|Label|Placeholder|AltText|Title)$/;

/** Lists the visible texts in a locator; empty if it has only a selector, a role or a test id. */
export function listTexts(locator: SyntaxNode): string[] {
  const texts: string[] = [];
  const add = (node: SyntaxNode | null | undefined) => node && texts.push(printTree(node));
  for (const call of listChain(locator))
    visit(call, (node) => {
      if (node.type === 'Property' && /^(?:name|hasText)$/.test(readName(getNode(node, 'key')) ?? ''))
        add(getNode(node, 'value'));
      if (isLocatorCall(node) && textLocator.test(getProperty(getNode(node, 'callee')) ?? ''))
        add(getNodes(node, 'arguments')[0]);
    });
  return texts;
}

/** Returns all strings and patterns below a node. */
export function listStrings(node: SyntaxNode): string[] {
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
  const values = Object.entries(node).filter(
    ([key, field]) =>
      !ignoredField.test(key) &&
      !fields.has(key) &&
      field !== null &&
      field !== false &&
      !isNode(field) &&
      !Array.isArray(field),
  );
  return JSON.stringify(
    values.map(([key, field]) => [key, typeof field === 'bigint' ? String(field) : printValue(field)]),
  );
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Prints a tree without layout and types, so that equal code prints equally, and without locators’ arguments if `omitsArguments`. */
export function printTree(wrapped: SyntaxNode, omitsArguments = false): string {
  const node = unwrap(wrapped);
  const constant = evaluateConstant(node);
  if (constant !== undefined) return JSON.stringify(constant);
  if (omitsArguments && isLocatorCall(node)) return `‹${printTree(findBaseLocator(node), true)}›`;
  const parts = listChildFields(node).map((field) => {
    const child = node[field];
    if (Array.isArray(child))
      return child.map((item) => (isNode(item) ? printTree(item, omitsArguments) : '')).join();
    return isNode(child) ? printTree(child, omitsArguments) : '';
  });
  return `${node.type}${printOwnValues(node)}(${parts.join(';')})`;
}
