import { readTemplate, getNode, getNodes, getProperty, type SyntaxNode, visit } from '../../code/syntax.js';
import { parseSource } from '../../code/source-file.js';
import type { PageElement } from '../../model/evidence.js';

/** A line of Playwright's accessibility snapshot with an element's role and accessible name: `- button "Pay" [disabled]: text`. */
const ariaElement = /^\s*- '?([\w-]+) "((?:[^"\\]|\\.)*)"(?=[ :']|$)/;

/** One name by which a locator finds its element. */
export interface LocatorName {
  readonly kind: 'test-id' | 'role' | 'text' | 'label' | 'placeholder';
  /** The role whose accessible name it is; null for the other kinds. */
  readonly role: string | null;
  readonly value: string;
  readonly isExact: boolean;
}

const kinds: Readonly<Record<string, LocatorName['kind']>> = {
  getByTestId: 'test-id',
  getByRole: 'role',
  getByText: 'text',
  getByLabel: 'label',
  getByPlaceholder: 'placeholder',
};

/** Parses the names in a printed locator; null if it is inside a frame or cannot be parsed. */
export function parseNames(locator: string): LocatorName[] | null {
  const program = parseSource('locator.ts', locator)?.program;
  if (!program || /\b(?:frameLocator|contentFrame)\(/.test(locator)) return null;
  const names: LocatorName[] = [];
  visit(program, (node) => {
    const lookup = parseName(node);
    if (lookup) names.push(lookup.name);
  });
  return names;
}

/** Returns the name in a locator call, and the literal that contains it. */
function parseName(call: SyntaxNode): { readonly name: LocatorName; readonly literal: SyntaxNode } | null {
  const callee = call.type === 'CallExpression' ? getNode(call, 'callee') : null;
  const method = callee && (getProperty(callee) ?? String(callee['name']));
  const kind = method ? kinds[method] : undefined;
  const [first, options] = getNodes(call, 'arguments');
  if (!kind || !first) return null;
  const literal = kind === 'role' ? findOption(options, 'name') : first;
  const value = literal && readLiteralText(literal);
  if (!literal || !value) return null;
  const isExact = kind === 'test-id' || findOption(options, 'exact')?.['value'] === true;
  return {
    name: { kind, role: kind === 'role' ? readLiteralText(first) : null, value, isExact },
    literal,
  };
}

/** Returns the text of a string or a template without expressions; null for any other node. */
export function readLiteralText(node: SyntaxNode): string | null {
  if (node.type === 'TemplateLiteral' && getNodes(node, 'expressions').length === 0)
    return getNodes(node, 'quasis').map(readTemplate).join('');
  return node.type === 'Literal' && typeof node['value'] === 'string' ? node['value'] : null;
}

/** Returns the value of an option in `{ name: 'Pay' }`. */
function findOption(object: SyntaxNode | undefined, name: string): SyntaxNode | null {
  const property = getNodes(object, 'properties').find((option) => getNode(option, 'key')?.['name'] === name);
  return getNode(property, 'value');
}

/** The page on which a test failed. */
export interface RedPage {
  readonly elements: readonly PageElement[];
  readonly ariaSnapshot: string;
}

/** Attributes for test ids: Playwright's default, and those that are common with other tools. */
const testIdAttribute = /^data-(?:test|cy|qa|pw|e2e|hook|automation)/;

/** Returns every name of this kind on the page, once for each element. */
export function listValuesOnPage({ elements, ariaSnapshot }: RedPage, { kind, role }: LocatorName): string[] {
  const toArray = (value: string | undefined) => (value ? [value] : []);
  switch (kind) {
    case 'test-id':
      return elements.flatMap(({ attributes }) =>
        toArray(Object.entries(attributes).find(([key]) => testIdAttribute.test(key))?.[1]),
      );
    case 'role':
      return ariaSnapshot.split('\n').flatMap((line) => {
        const [, lineRole, name = ''] = ariaElement.exec(line) ?? [];
        return lineRole === role ? toArray(name.replaceAll(/\\(.)/g, '$1').replaceAll("''", "'")) : [];
      });
    case 'text':
      return elements.flatMap(({ text }) => toArray(text));
    case 'label':
      return elements.flatMap(({ label, attributes }) => toArray(attributes['aria-label'] ?? label));
    case 'placeholder':
      return elements.flatMap(({ attributes }) => toArray(attributes['placeholder']));
    default:
      return kind satisfies never;
  }
}

/** True if a locator with this name finds an element with this value. */
export function matchesName(name: LocatorName, value: string): boolean {
  if (name.isExact) return value === name.value;
  return value.toLowerCase().includes(name.value.toLowerCase());
}

export interface SourceText {
  /** Absolute. */
  readonly file: string;
  readonly text: string;
}

/** A string literal in test code that contains the name of a locator. */
export interface NamePosition {
  readonly file: string;
  /** The position of the name within the text, without quotes. */
  readonly start: number;
  readonly end: number;
  /** The lines of the surrounding call, counted from 1. */
  readonly firstLine: number;
  readonly lastLine: number;
  /** True if it is in the locator call itself, false if it is in a constant. */
  readonly isInCall: boolean;
}

/** Returns the literals with this name in locator calls or, if there are none, elsewhere in the file. */
export function findPositions(
  { file, text }: SourceText,
  { kind, role, value }: LocatorName,
): NamePosition[] {
  const source = text.includes(value) ? parseSource(file, text) : null;
  if (!source) return [];
  const calls: NamePosition[] = [];
  const others: NamePosition[] = [];
  const createPosition = (literal: SyntaxNode, around: SyntaxNode, isInCall: boolean): NamePosition => ({
    file,
    start: literal.start + 1,
    end: literal.end - 1,
    firstLine: source.lineAt(around.start),
    lastLine: source.lineAt(around.end),
    isInCall,
  });
  visit(source.program, (node) => {
    const lookup = parseName(node);
    if (lookup?.name.kind === kind && lookup.name.role === role && lookup.name.value === value)
      calls.push(createPosition(lookup.literal, node, true));
    else if (readLiteralText(node) === value) others.push(createPosition(node, node, false));
  });
  const isUnescaped = ({ start, end }: NamePosition) => text.slice(start, end) === value;
  return (calls.length > 0 ? calls : others).filter(isUnescaped);
}
