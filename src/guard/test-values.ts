import type { SourceFile } from '../code/source-file.js';
import {
  calleeOf,
  childrenOf,
  constantOf,
  isFunction,
  isNode,
  nameOf,
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
  /** Whether it is among what they expect or send. */
  isExpected(value: Value): boolean;
  /** Whether these are listed one after another in what they expect. */
  isList(values: readonly unknown[]): boolean;
  /** Whether it says what they type, or is a number that they expect. */
  isAnswer(value: Value): boolean;
}

/** Numbers that say nothing about where they come from. */
const common = new Set([0, 1, -1]);
const numbersIn = (text: string) =>
  (text.match(/\d+(?:[.,]\d+)*/g) ?? [])
    .map((one) => Number(one.replace(/,(?=\d{3}\b)/g, '').replace(',', '.')))
    .filter((one) => !common.has(one));
const wordsOf = (text: string) => text.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 2);
const plain = (value: Value) => String(value).trim().toLowerCase();

/** Reads what these tests type and expect. */
export function testValues(tests: readonly SourceFile[]): TestValues {
  const inputs = [...(typedIn(tests)?.all ?? [])].map(plain);
  const typed = inputs.filter((one) => one.length > 1);
  const selected = new Set(tests.flatMap(({ program }) => selectedIn(program)).map(plain));
  const said = tests.flatMap(({ program }) => expectedIn(program));
  const expected = new Set(said.map(plain).filter((one) => one.length > 1 && !common.has(Number(one))));
  const words = new Set(typed.flatMap(wordsOf));
  const [typedNumbers, numbers] = [inputs, said.map(String)].map((all) => new Set(all.flatMap(numbersIn)));
  const asNumber = (value: Value) => (typeof value === 'number' ? value : Number(value || Number.NaN));
  const isTyped = (value: Value) => {
    const text = plain(value);
    if (common.has(asNumber(value)) || text.length < 2) return false;
    const isPart = (one: string) => one.includes(text) && text.length * 2 >= one.length;
    return words.has(text) || typed.some(isPart) || typedNumbers?.has(asNumber(value)) === true;
  };
  const lists = tests.flatMap(({ program }) =>
    nodesOf(program).flatMap(({ type, elements }) => (type === 'ArrayExpression' ? joined(elements) : [])),
  );
  // A name, in what is expected with more around it.
  const isNamed = (text: string) =>
    /^\p{Lu}.{4,}/u.test(text) && said.some((one) => String(one).includes(text));
  return {
    isTyped,
    isList: (values) => lists.some((one) => one.includes(joined(values))),
    isExpected: (value) =>
      expected.has(plain(value)) || isNamed(String(value)) || numbers?.has(asNumber(value)) === true,
    isAnswer: (value) =>
      typeof value === 'number'
        ? isTyped(value) || numbers?.has(value) === true
        : selected.has(plain(value)) ||
          wordsOf(plain(value)).some((word) => words.has(word)) ||
          numbersIn(value).some((one) => typedNumbers?.has(one) || numbers?.has(one)),
  };
}

/** Joins the constants of a list. */
function joined(values: unknown): string {
  const all = Array.isArray(values) ? values.map((one) => (isNode(one) ? constantOf(one) : one)) : [];
  return `|${all.map((one) => String(one).toLowerCase()).join('|')}|`;
}

/** Returns the options that tests choose. */
function selectedIn(program: SyntaxNode): Value[] {
  const calls = nodesOf(program).filter((node) => propertyOf(calleeOf(node)) === 'selectOption');
  return calls.flatMap((call) => nodesIn(call, 'arguments').flatMap(expectedIn));
}

/** Returns the constants that tests say, but not how they find elements, what they are called and what they import. */
function expectedIn(node: SyntaxNode): Value[] {
  if (/^(?:Import|TS)/.test(node.type)) return [];
  const value = constantOf(node);
  if (value !== undefined) {
    if (typeof value === 'number') return [value];
    if (typeof value !== 'string') return [];
    // Of an address, only its parameters say something of this test.
    return /^(?:https?:\/)?\//.test(value)
      ? value.split(/[/?&=#]/).filter((part) => /\d/.test(part))
      : [value];
  }
  const key = node['computed'] === true ? null : nodeIn(node, 'key');
  const children = childrenOf(node).filter((one) => one !== key);
  if (node.type !== 'CallExpression') return children.flatMap(expectedIn);
  const callee = nodeIn(node, 'callee');
  const method = propertyOf(callee) ?? nameOf(callee) ?? '';
  const args = nodesIn(node, 'arguments');
  const last = args.at(-1);
  const isTitled = args.length > 1 && last !== undefined && isFunction(last);
  if (/^(?:locator|frameLocator|getByTestId|require)$/.test(method)) args.length = 0;
  else if (isTitled || method === 'getByRole') args.shift();
  return [...(callee ? [callee] : []), ...args].flatMap(expectedIn);
}
