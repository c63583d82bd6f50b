import { propertyOf } from '../code/expressions.js';
import { parseSource } from '../code/source-file.js';
import { nodeIn, nodesIn, type SyntaxNode } from '../code/syntax.js';

/** One name by which a locator finds its element. */
export type LocatorName =
  | { readonly kind: 'test-id'; readonly value: string }
  /** A role with an accessible name. */
  | { readonly kind: 'role'; readonly role: string; readonly value: string; readonly exact: boolean }
  | {
      readonly kind: 'text' | 'label' | 'placeholder' | 'alt' | 'title';
      readonly value: string;
      readonly exact: boolean;
    }
  | { readonly kind: 'id' | 'class'; readonly value: string }
  | { readonly kind: 'attribute'; readonly name: string; readonly value: string };

const byMethod = {
  getByText: 'text',
  getByLabel: 'label',
  getByPlaceholder: 'placeholder',
  getByAltText: 'alt',
  getByTitle: 'title',
} as const;

/** Returns the names in a locator as Playwright prints it, outermost first; null if it is inside a frame or cannot be parsed. */
export function namesIn(locator: string): LocatorName[] | null {
  const program = parseSource('locator.ts', locator)?.program;
  const [statement] = program ? nodesIn(program, 'body') : [];
  const expression = statement ? nodeIn(statement, 'expression') : null;
  return expression && namesOf(expression);
}

function namesOf(node: SyntaxNode): LocatorName[] | null {
  if (node.type !== 'CallExpression') return [];
  const callee = nodeIn(node, 'callee');
  const method = callee && (propertyOf(callee) ?? plainName(callee));
  const receiver = callee && nodeIn(callee, 'object');
  const outer = receiver ? namesOf(receiver) : [];
  if (!method || outer === null || /frame/i.test(method)) return null;
  return [...outer, ...namesOfCall(method, nodesIn(node, 'arguments'))];
}

function plainName(callee: SyntaxNode): string | null {
  return callee.type === 'Identifier' ? String(callee['name']) : null;
}

function namesOfCall(method: string, [first, second]: readonly SyntaxNode[]): LocatorName[] {
  const within = hasText(method, [first, second]);
  const text = within && textOf(within);
  return [
    ...namesOfArgument(method, [first, second]),
    ...(text ? [{ kind: 'text', value: text, exact: false } as const] : []),
  ];
}

/** Returns the text that an element must contain, in `filter({ hasText: 'Pay' })` and `locator('button', { hasText: 'Pay' })`. */
export function hasText(method: string, given: readonly (SyntaxNode | undefined)[]): SyntaxNode | null {
  const options = method === 'filter' ? given[0] : method === 'locator' ? given[1] : undefined;
  return options ? optionOf(options, 'hasText') : null;
}

function namesOfArgument(
  method: string,
  [first, second]: readonly (SyntaxNode | undefined)[],
): LocatorName[] {
  const value = first ? textOf(first) : null;
  if (value === null || value === '') return [];
  const exact = second ? optionOf(second, 'exact')?.['value'] === true : false;
  if (method === 'getByTestId') return [{ kind: 'test-id', value }];
  if (method === 'getByRole') {
    const option = second ? optionOf(second, 'name') : null;
    const name = option && textOf(option);
    return name === null || name === '' ? [] : [{ kind: 'role', role: value, value: name, exact }];
  }
  if (method in byMethod) return [{ kind: byMethod[method as keyof typeof byMethod], value, exact }];
  return method === 'locator' ? namesInSelector(value) : [];
}

/** Returns the text of a string literal; null for anything else. */
export function textOf(node: SyntaxNode): string | null {
  return node.type === 'Literal' && typeof node['value'] === 'string' ? node['value'] : null;
}

/** Returns the value of an option in `{ name: 'Pay' }`. */
export function optionOf(object: SyntaxNode, name: string): SyntaxNode | null {
  const property = nodesIn(object, 'properties').find((one) => {
    const key = nodeIn(one, 'key');
    return key !== null && (key['name'] === name || key['value'] === name);
  });
  return property ? nodeIn(property, 'value') : null;
}

/** Returns the ids, classes and attributes in a selector (CSS, or the attributes of an XPath), or its text; none for other engines. */
function namesInSelector(selector: string): LocatorName[] {
  const [, quote, text] = /^text=(["']?)(.+)\1$/.exec(selector) ?? [];
  if (text !== undefined) return [{ kind: 'text', value: text, exact: quote !== '' }];
  if (/^(?:text=|\.\.|internal:)|>>|:/.test(selector)) return [];
  const found = [...selector.matchAll(/\[@?([\w-]+)=(?:"([^"\]]+)"|'([^'\]]+)'|([\w-]+))\]/g)];
  const attributes = found.map(([, name = '', ...values]): LocatorName => ({
    kind: 'attribute',
    name,
    value: values.find((value) => value !== undefined) ?? '',
  }));
  if (/^(?:xpath=|\/\/)/.test(selector)) return attributes;
  const rest = selector.replaceAll(/\[[^\]]*\]/g, ' ');
  return [
    ...attributes,
    ...Array.from(rest.matchAll(/#([\w-]+)/g), ([, value = '']): LocatorName => ({ kind: 'id', value })),
    ...Array.from(rest.matchAll(/\.([\w-]+)/g), ([, value = '']): LocatorName => ({ kind: 'class', value })),
  ];
}
