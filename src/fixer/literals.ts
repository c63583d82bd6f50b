import { propertyOf } from '../code/expressions.js';
import { parseSource } from '../code/source-file.js';
import { nodeIn, nodesIn, visit, type SyntaxNode } from '../code/syntax.js';
import { hasText, optionOf, textOf, type LocatorName } from './locator-links.js';
import type { SourceText } from './proposal.js';
import { placesOf } from './renamed.js';

/** A string literal in test code with a name that a locator looks for. */
export interface Place {
  readonly file: string;
  /** The position of the name within the text, without quotes. */
  readonly start: number;
  readonly end: number;
  /** The lines of the surrounding call, counted from 1. */
  readonly from: number;
  readonly to: number;
  /** Whether it is in the locating call itself rather than in a constant. */
  readonly inCall: boolean;
}

const methodOf: Readonly<Record<string, string>> = {
  'test-id': 'getByTestId',
  role: 'getByRole',
  text: 'getByText',
  label: 'getByLabel',
  placeholder: 'getByPlaceholder',
  alt: 'getByAltText',
  title: 'getByTitle',
};

/** Returns the role literals of locating calls for an element of this name. */
export function placesOfRole(source: SourceText, name: LocatorName & { kind: 'role' }): Place[] {
  const role = (call: SyntaxNode) => literalOf(call, name) && (nodesIn(call, 'arguments')[0] ?? null);
  return placesIn(source, { ...name, value: name.role }, role).filter(({ inCall }) => inCall);
}

/** Returns the literals with this name: those in locating calls or, if there are none, those with this value elsewhere. */
export function placesOfName(source: SourceText, name: LocatorName): Place[] {
  return placesIn(source, name, (call) => literalOf(call, name));
}

function placesIn(
  { file, text }: SourceText,
  name: LocatorName,
  inCall: (call: SyntaxNode) => SyntaxNode | null,
): Place[] {
  if (!text.includes(name.value)) return [];
  const source = parseSource(file, text);
  if (!source) return [];
  const calls: Place[] = [];
  const others: Place[] = [];
  const place = (node: SyntaxNode, around: SyntaxNode, locates: boolean): Place[] =>
    rangesIn(text.slice(node.start, node.end), name, locates).map(({ start, end }) => ({
      file,
      start: node.start + start,
      end: node.start + end,
      from: source.lineAt(around.start),
      to: source.lineAt(around.end),
      inCall: locates,
    }));
  const seen = new Set<number>();
  visit(source.program, (node) => {
    if (node.type === 'CallExpression') {
      const literal = inCall(node);
      if (literal && !seen.has(literal.start)) calls.push(...place(literal, node, true));
      if (literal) seen.add(literal.start);
    } else if (textOf(node) !== null && !seen.has(node.start)) others.push(...place(node, node, false));
  });
  return calls.length > 0 ? calls : others;
}

function literalOf(call: SyntaxNode, name: LocatorName): SyntaxNode | null {
  const callee = nodeIn(call, 'callee');
  const method = callee && propertyOf(callee);
  const [first, second] = nodesIn(call, 'arguments');
  if (!method || !first) return null;
  if (name.kind === 'role') {
    const option = second ? optionOf(second, 'name') : null;
    const isIt = method === 'getByRole' && textOf(first) === name.role;
    return isIt && option && textOf(option) === name.value ? option : null;
  }
  const own = methodOf[name.kind];
  if (method === own) return textOf(first) === name.value ? first : null;
  if (name.kind === 'text') {
    const option = hasText(method, [first, second]);
    if (option) return textOf(option) === name.value ? option : null;
  } else if (own !== undefined) return null;
  // `locator('#pay')`, and the page's older methods that take a selector.
  const selector = textOf(first);
  const isSelector =
    /^(?:locator|\$\$?|click|dblclick|fill|type|press|check|uncheck|hover|selectOption|waitForSelector|isVisible|textContent|innerText|inputValue)$/;
  const says = selector !== null && rangesIn(JSON.stringify(selector), name, true).length > 0;
  return says && isSelector.test(method) ? first : null;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** What precedes a name in a selector. */
const before: Readonly<Record<string, RegExp>> = {
  id: /#$/,
  class: /\.$/,
  attribute: /=\\?["']?$/,
  text: /^.text=\\?["']?$/,
};

/**
 * Returns where a quoted literal contains the name: within a selector, or as the whole value. In a locating call, ids, classes and attributes
 * only count within a selector.
 */
function rangesIn(raw: string, { kind, value }: LocatorName, locates: boolean): Range[] {
  const sign = before[kind];
  const inSelector = sign ? placesOf(raw, value).filter((start) => sign.test(raw.slice(0, start))) : [];
  const isAll = raw.slice(1, -1) === value && !(locates && sign && kind !== 'text');
  return (isAll ? [1] : inSelector).map((start) => ({ start, end: start + value.length }));
}

/** Replaces these places in a text; returns null if the new value would need escaping. */
export function replaced(text: string, places: readonly Place[], value: string): string | null {
  if (/["'`\\\n$]/.test(value)) return null;
  return places
    .toSorted((a, b) => b.start - a.start)
    .reduce((sum, { start, end }) => sum.slice(0, start) + value + sum.slice(end), text);
}
