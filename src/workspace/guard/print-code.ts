import type { LocatorText } from '../../core/guard/outline.js';
import type { Printing } from './printing.js';
import { readLocator } from './read-locator.js';
import { declareAll, declarePattern, innerScope, lookUp, type Scope } from './scope.js';
import {
  bare,
  cookedText,
  childrenOf,
  isFunction,
  nameOf,
  nodeIn,
  nodesIn,
  propertyOf,
  type SyntaxNode,
} from './syntax.js';
import type { TestSources } from './test-sources.js';

/** An expression in one spelling: names replaced by what they stand for, formatting and types gone. */
export interface PrintedCode {
  readonly text: string;
  /** The locators that stand as `‹locator›` in the text, in order. */
  readonly locators: readonly LocatorText[];
}

const MAX_DEPTH = 40;

/** Prints an expression so that two spellings of the same thing are the same text. */
export function printCode(node: SyntaxNode, scope: Scope, sources: TestSources): PrintedCode {
  const locators: LocatorText[] = [];
  const text = print(node, scope, { sources, locators, depth: 0, print });
  return { text, locators };
}

/** The same, on the way down; locators go into `printing.locators`. */
function print(given: SyntaxNode, givenScope: Scope, printing: Printing): string {
  if (printing.depth > MAX_DEPTH) return '‹deep›';
  const at = { ...printing, depth: printing.depth + 1 };
  const { node, scope } = at.sources.resolve(given, givenScope);
  const locator = readLocator(node, scope, at);
  if (locator) {
    printing.locators.push(locator);
    return '‹locator›';
  }
  if (isFunction(node)) return printFunction(node, scope, at);
  switch (node.type) {
    case 'Literal':
      return printLiteral(node);
    case 'TemplateLiteral':
      return printTemplate(node, scope, at);
    case 'Identifier':
      return printName(node, scope);
    case 'BinaryExpression':
      return printBinary(node, scope, at);
    case 'MemberExpression':
      return printMember(node, scope, at);
    case 'ObjectExpression':
      return `{${propertyTexts(node, scope, at).sort().join(', ')}}`;
    case 'AwaitExpression':
      return `await ${inner(node, 'argument', { scope, at })}`;
    case 'UnaryExpression':
      return `${String(node['operator'])}${inner(node, 'argument', { scope, at })}`;
    default:
      return printOther(node, scope, at);
  }
}

function inner(node: SyntaxNode, field: string, { scope, at }: { scope: Scope; at: Printing }): string {
  const child = nodeIn(node, field);
  return child ? print(child, scope, at) : '';
}

function printLiteral(node: SyntaxNode): string {
  const { value } = node;
  return typeof value === 'string' || typeof value === 'number'
    ? JSON.stringify(value)
    : String(node['raw'] ?? value);
}

function printName(node: SyntaxNode, scope: Scope): string {
  const name = String(node['name']);
  const binding = lookUp(name, scope);
  if (binding?.kind === 'opaque') return binding.label;
  if (binding?.kind === 'import') return binding.name === '*' ? binding.source : binding.name;
  return name;
}

/** A template whose every part is known is a string like any other. */
function printTemplate(node: SyntaxNode, scope: Scope, at: Printing): string {
  const texts = nodesIn(node, 'quasis').map((one) => cookedText(one));
  const parts = nodesIn(node, 'expressions').map((one) => print(one, scope, at));
  const known = parts.map((part) => (/^(?:"|-?\d)/.test(part) ? String(parsed(part)) : null));
  const filled = texts.map(
    (text, index) => text + (index < parts.length ? (known[index] ?? `\${${parts[index]}}`) : ''),
  );
  const joined = JSON.stringify(filled.join(''));
  return known.every((one) => one !== null) ? joined : `template ${joined}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function printBinary(node: SyntaxNode, scope: Scope, at: Printing): string {
  const [left, right] = [inner(node, 'left', { scope, at }), inner(node, 'right', { scope, at })];
  const operator = String(node['operator']);
  const [a, b] = [parsed(left), parsed(right)];
  if (typeof a === 'number' && typeof b === 'number') {
    if (operator === '*') return String(a * b);
    if (operator === '+') return String(a + b);
    if (operator === '-') return String(a - b);
    if (operator === '/') return String(a / b);
  }
  if (
    typeof a === 'string' &&
    typeof b === 'string' &&
    operator === '+' &&
    left.startsWith('"') &&
    right.startsWith('"')
  ) {
    return JSON.stringify(a + b);
  }
  return `(${left} ${operator} ${right})`;
}

function printMember(node: SyntaxNode, scope: Scope, at: Printing): string {
  const property = nodeIn(node, 'property');
  const name = propertyOf(node);
  // The page of a page object is the page of the test that made it.
  if (name === 'page' && nodeIn(node, 'object')?.type === 'ThisExpression') return 'page';
  const object = inner(node, 'object', { scope, at });
  if (name !== null) return `${object}.${name}`;
  return `${object}[${property ? print(property, scope, at) : ''}]`;
}

/** `key: value` of each property of an object literal. */
function propertyTexts(node: SyntaxNode, scope: Scope, at: Printing): string[] {
  return nodesIn(node, 'properties').map((one) => {
    const value = nodeIn(one, 'value');
    const key = nodeIn(one, 'key');
    if (!key || !value) return printOther(one, scope, at);
    const name =
      one['computed'] === true ? `[${print(key, scope, at)}]` : (nameOf(key) ?? print(key, scope, at));
    return `${name}: ${print(value, scope, at)}`;
  });
}

function printFunction(node: SyntaxNode, scope: Scope, at: Printing): string {
  const within = innerScope(scope);
  nodesIn(node, 'params').forEach((one, index) =>
    declarePattern(one, { scope: within, label: `‹${index}›` }),
  );
  const body = nodeIn(node, 'body');
  if (!body) return '=> {}';
  if (body.type !== 'BlockStatement') return `=> ${print(body, within, at)}`;
  const statements = nodesIn(body, 'body');
  declareAll(statements, within);
  const [only] = statements;
  const value = statements.length === 1 && only?.type === 'ReturnStatement' ? nodeIn(only, 'argument') : null;
  if (value) return `=> ${print(value, within, at)}`;
  return `=> {${statements.map((one) => print(one, within, at)).join('; ')}}`;
}

function printOther(node: SyntaxNode, scope: Scope, at: Printing): string {
  if (node.type === 'CallExpression' || node.type === 'NewExpression') {
    const callee = nodeIn(node, 'callee');
    const args = nodesIn(node, 'arguments').map((one) => print(one, scope, at));
    const made = node.type === 'NewExpression' ? 'new ' : '';
    return `${made}${callee ? printCallee(bare(callee), scope, at) : ''}(${args.join(', ')})`;
  }
  const parts = childrenOf(node).map((child) => print(child, scope, at));
  const operator = typeof node['operator'] === 'string' ? ` ${node['operator']}` : '';
  return `${node.type}${operator}(${parts.join(', ')})`;
}

/** A callee by its name: what it stands for is read where it is called, not printed. */
function printCallee(callee: SyntaxNode, scope: Scope, at: Printing): string {
  if (callee.type === 'Identifier') return printName(callee, scope);
  return callee.type === 'MemberExpression' ? printMember(callee, scope, at) : print(callee, scope, at);
}
