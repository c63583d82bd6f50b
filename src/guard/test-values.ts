import type { SourceFile } from '../code/source-file.js';
import {
  childrenOf,
  constantOf,
  isFunction,
  lastName,
  nodeIn,
  nodesIn,
  nodesOf,
  propertyOf,
  type SyntaxNode,
} from '../code/syntax.js';
import { typedIn } from './other-input.js';

/** A constant of code. */
export type Value = string | number;

/** Says what the healed tests do with a value, compared without case, as text and as number. */
export interface TestValues {
  /** Whether the tests type it, or it is the telling part of what they type. */
  isTyped(value: Value): boolean;
  /** Whether it is among what they expect or send, or the telling part of it. */
  isExpected(value: Value): boolean;
  /** Whether these are listed one after another in what they expect. */
  isList(values: readonly Value[]): boolean;
  /** Whether it says what they type or choose, or is a number that they expect. */
  isAnswer(value: Value): boolean;
}

/** A length that code compares with. */
export const lengthValue = (length: Value): Value => `length ${length}`;

/** Numbers that say nothing about where they come from. */
const common = new Set([0, 1, -1]);
const numbersIn = (value: Value) =>
  (String(value).match(/\d+(?:[.,]\d+)*/g) ?? [])
    .map((number) => Number(number.replace(/,(?=\d{3}\b)/g, '').replace(',', '.')))
    .filter((number) => !common.has(number));
const wordsIn = (text: string) => text.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 2);
const plain = (value: unknown) => String(value).trim().toLowerCase();

/** Reads what these tests type and expect. */
export function testValues(tests: readonly SourceFile[]): TestValues {
  const nodes = tests.flatMap(({ program }) => nodesOf(program));
  const constants = tests.flatMap(({ program }) => constantsIn(program));
  const chosen = nodes.flatMap((node) =>
    propertyOf(nodeIn(node, 'callee')) === 'selectOption'
      ? nodesIn(node, 'arguments').flatMap(constantsIn)
      : [],
  );
  const typed = [...(typedIn(tests)?.all ?? [])];
  const texts = { typed: typed.map(plain), constants: constants.map(plain), chosen: chosen.map(plain) };
  const words = new Set(texts.typed.flatMap(wordsIn));
  const numbers = new Set([...typed, ...constants].flatMap(numbersIn));
  const lists = nodes
    .filter(({ type }) => type === 'ArrayExpression')
    .map((node) => joined(nodesIn(node, 'elements').map(constantOf)));
  const lengths = [
    ...constants.map((value) => String(value).length),
    ...lists.map((list) => list.split('|').length - 2),
  ];
  const knownLengths = new Set(lengths.filter((length) => length > 1).map(lengthValue));
  const isNumber = (value: Value) =>
    numbers.has(typeof value === 'number' ? value : Number(value || Number.NaN));
  /** Whether a text is one of these, or at least half of it. */
  const isPart = (text: string, all: readonly string[]) =>
    text.length > 1 &&
    !common.has(Number(text)) &&
    all.some((whole) => whole.includes(text) && text.length * 2 >= whole.length);
  /** Whether a text has a sign that is in no word of an interface: a digit, or a capital at its beginning. */
  const isName = (value: Value) =>
    /^(?=.*\d).{4,}|^\p{Lu}.{4,}/u.test(String(value)) &&
    constants.some((constant) => String(constant).includes(String(value)));
  const isTyped = (value: Value) => isPart(plain(value), texts.typed) || words.has(plain(value));
  return {
    isTyped,
    isList: (values) => lists.some((list) => list.includes(joined(values))),
    isExpected: (value) =>
      isNumber(value) ||
      knownLengths.has(value) ||
      isName(value) ||
      (isPart(plain(value), texts.constants) && texts.constants.includes(plain(value))),
    isAnswer: (value) =>
      isNumber(value) ||
      (typeof value === 'string' &&
        (texts.chosen.includes(plain(value)) ||
          wordsIn(plain(value)).some((word) => words.has(word)) ||
          numbersIn(value).some((number) => numbers.has(number)))),
  };
}

const joined = (values: readonly unknown[]) => `|${values.map(plain).join('|')}|`;

/** Returns the constants that tests say, but not how they find elements, what they are called and what they import. */
function constantsIn(node: SyntaxNode): Value[] {
  if (/^(?:Import|TS)/.test(node.type)) return [];
  const value = constantOf(node);
  if (typeof value === 'number') return [value];
  if (typeof value === 'string') return /^(?:https?:\/)?\//.test(value) ? value.split(/[/?&=#]/) : [value];
  const key = node['computed'] === true ? null : nodeIn(node, 'key');
  const children = childrenOf(node).filter((child) => child !== key);
  if (node.type !== 'CallExpression') return children.flatMap(constantsIn);
  const callee = nodeIn(node, 'callee');
  const method = lastName(callee);
  const args = nodesIn(node, 'arguments');
  const last = args.at(-1);
  const isTitled = args.length > 1 && last !== undefined && isFunction(last);
  if (/^(?:locator|frameLocator|getByTestId|require)$/.test(method)) args.length = 0;
  else if (isTitled || method === 'getByRole') args.shift();
  return [...(callee ? [callee] : []), ...args].flatMap(constantsIn);
}
