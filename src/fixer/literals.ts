import { nodeIn, nodesIn, parseSource, propertyOf, visit, type SyntaxNode } from '../code/syntax.js';
import { optionOf, textOf, type LocatorName } from './locator-links.js';
import type { SourceText } from './proposal.js';
import { placesOf } from './renamed.js';

/** A string literal in test code that names what a locator looks for. */
export interface Place {
  readonly file: string;
  /** Of the literal, without its quotes. */
  readonly start: number;
  readonly end: number;
  /** Lines, from 1, of the statement-like call around it. */
  readonly from: number;
  readonly to: number;
  /** Whether it stands in the very call that locates, and not in a constant. */
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

/** The literals of a file that say a role for an element of this name, in locating calls. */
export function placesOfRole(source: SourceText, name: LocatorName & { kind: 'role' }): Place[] {
  const role = (call: SyntaxNode) => literalOf(call, name) && (nodesIn(call, 'arguments')[0] ?? null);
  return placesIn(source, { ...name, value: name.role }, role).filter(({ inCall }) => inCall);
}

/** The literals of a file that say this name: those in locating calls, or, where there are none, those that are its value. */
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
    rangesIn(text.slice(node.start, node.end), name).map(({ start, end }) => ({
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
    } else if (textOf(node) === name.value && !seen.has(node.start)) others.push(...place(node, node, false));
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
  if (own !== undefined) return method === own && textOf(first) === name.value ? first : null;
  // `locator('#pay')`, and the page's older methods that take a selector.
  const selector = textOf(first);
  const isSelector =
    /^(?:locator|\$\$?|click|dblclick|fill|type|press|check|uncheck|hover|selectOption|waitForSelector|isVisible|textContent|innerText|inputValue)$/;
  return selector !== null && isSelector.test(method) && rangesIn(selector, name).length > 0 ? first : null;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Where a literal's own text, or a selector in it, says the name. */
function rangesIn(raw: string, { kind, value }: LocatorName): Range[] {
  const at = (start: number) => ({ start, end: start + value.length });
  if (kind === 'id' || kind === 'class') {
    const sign = kind === 'id' ? '#' : '.';
    return placesOf(raw, value).flatMap((start) => (raw[start - 1] === sign ? [at(start)] : []));
  }
  if (kind === 'attribute')
    return placesOf(raw, value).flatMap((start) =>
      /=\\?["']?$/.test(raw.slice(0, start)) ? [at(start)] : [],
    );
  return raw.slice(1, -1) === value ? [at(1)] : [];
}

/** The text with these places replaced; null where the new value would need to be escaped. */
export function replaced(text: string, places: readonly Place[], value: string): string | null {
  if (/["'`\\\n$]/.test(value)) return null;
  return places
    .toSorted((a, b) => b.start - a.start)
    .reduce((sum, { start, end }) => sum.slice(0, start) + value + sum.slice(end), text);
}
