import { bare, bodyOf, calleeOf, constantOf, isFunction, nameOf, propertyOf } from './expressions.js';
import { type LocatorText, readBySelector, readLocator } from './locator.js';
import { printBinary, printTemplate } from './print-values.js';
import { returnedValue } from './returned-value.js';
import { callScope, declarePattern, type Located, lookUp, parameterScope, type Scope } from './scope.js';
import { functionOf, moduleName, resolve } from './sources.js';
import { childrenOf, nodeIn, nodesIn, type SyntaxNode } from './syntax.js';
import { rootName } from './test-object.js';

/** An expression in canonical form: names are replaced by their values, and formatting and types are dropped. */
export interface PrintedCode {
  readonly text: string;
  /** The locators shown as `‹locator›` in the text, in order. */
  readonly locators: readonly LocatorText[];
}

/** Thrown when code is too large to be judged; the message says why. */
export class TooLarge extends Error {}

/** The limit on the characters of one text, which can grow exponentially with the code. */
const MAX_TEXT = 200_000;

/** State passed down while one expression is printed. */
interface Printing extends Required<Pick<PrintPlace, 'actions'>> {
  readonly locators: LocatorText[];
  /** How many functions enclose the node. */
  readonly functions: number;
  /** Functions being printed, to stop recursion. */
  readonly active: readonly SyntaxNode[];
  /** The tests' own function being called, while its callee is printed; otherwise null. */
  readonly called: SyntaxNode | null;
}

/** The context in which an expression is printed. */
export interface PrintPlace {
  readonly scope: Scope;
  /** How many actions the test has performed before the expression. */
  readonly actions?: number;
}

/** Prints an expression so that two spellings of the same thing give the same text. Throws `TooLarge` if that text is too long. */
export function printCode(node: SyntaxNode, { scope, actions = 0 }: PrintPlace): PrintedCode {
  const at = { actions, locators: [], functions: 0, active: [], called: null };
  return { text: print(node, scope, at), locators: at.locators };
}

function print(given: SyntaxNode, scope: Scope, at: Printing): string {
  const text = earlier(given, scope, at) + printResolved(resolve(given, scope), at);
  if (text.length > MAX_TEXT) throw new TooLarge('an expression of the tests is too long to be judged');
  return text;
}

/** Returns a prefix for a value that was awaited before the latest actions, since reading it now may give another value. */
function earlier(given: SyntaxNode, scope: Scope, { actions }: Printing): string {
  const node = bare(given);
  if (node.type !== 'Identifier') return '';
  const binding = lookUp(String(node['name']), scope);
  if (binding?.kind !== 'value' || binding.takenAfter === undefined || binding.takenAfter === actions)
    return '';
  const isRead = bare(resolve(node, scope).node).type === 'AwaitExpression';
  return isRead ? `read ${actions - binding.takenAfter} actions before: ` : '';
}

function printResolved({ node, scope }: Located, at: Printing): string {
  const inside = (one: SyntaxNode) => print(one, scope, at);
  const field = (name: string) => {
    const child = nodeIn(node, name);
    return child ? inside(child) : '';
  };
  const locator = readLocator(node, scope, (one, there) => {
    const locators: LocatorText[] = [];
    return { text: print(one, there, { ...at, locators }), locators };
  });
  if (locator) {
    at.locators.push(locator);
    return '‹locator›';
  }
  if (isFunction(node)) return printFunction(node, scope, at);
  // What a class does is read where its members are called.
  if (node.type.startsWith('Class')) return `class ${nameOf(nodeIn(node, 'id')) ?? ''}`;
  switch (node.type) {
    case 'Literal':
      return printLiteral(node);
    case 'TemplateLiteral':
      return printTemplate(node, inside);
    case 'Identifier':
      return printName(node, scope);
    case 'BinaryExpression':
      return printBinary(String(node['operator']), field('left'), field('right'));
    case 'MemberExpression':
      return printMember(node, inside);
    case 'CallExpression':
    case 'NewExpression':
      return printCall(node, scope, at);
    case 'ObjectExpression':
      return `{${nodesIn(node, 'properties')
        .map((one) => inside(one))
        .sort()
        .join(', ')}}`;
    case 'TSEnumDeclaration':
      return `enum {${nodesIn(nodeIn(node, 'body'), 'members').map(inside).join(', ')}}`;
    case 'TSEnumMember':
      return `${nameOf(nodeIn(node, 'id'))}: ${field('initializer')}`;
    case 'Property':
      return `${node['computed'] === true ? `[${field('key')}]` : (nameOf(nodeIn(node, 'key')) ?? field('key'))}: ${field('value')}`;
    case 'AwaitExpression':
      return `await ${field('argument')}`;
    default:
      return printOther(node, inside);
  }
}

function printLiteral(node: SyntaxNode): string {
  const value = constantOf(node);
  return value === undefined ? String(node['raw']) : JSON.stringify(value);
}

function printName(node: SyntaxNode, scope: Scope): string {
  const name = String(node['name']);
  const binding = lookUp(name, scope);
  if (binding?.kind === 'opaque') return binding.label;
  if (binding?.kind !== 'import') return name;
  return /playwright/.test(binding.source)
    ? binding.name
    : `${moduleName(binding.source, scope)}#${binding.name}`;
}

function printMember(node: SyntaxNode, inside: (node: SyntaxNode) => string): string {
  const [object, property] = [nodeIn(node, 'object'), nodeIn(node, 'property')];
  const name = propertyOf(node);
  // The page of a page object is the page of the test that made it.
  if (name === 'page' && object?.type === 'ThisExpression') return 'page';
  const of = `${object ? inside(object) : ''}${node['optional'] === true ? '?' : ''}`;
  return name === null ? `${of}[${property ? inside(property) : ''}]` : `${of}.${name}`;
}

/** Prints a call. A call of the tests' own function is printed as the expression that it returns or, if it does more, as the whole function. */
function printCall(given: SyntaxNode, scope: Scope, at: Printing): string {
  const called = calleeOf(given);
  const own = called && functionOf(called, scope);
  const isOptions = (one: SyntaxNode) => resolve(one, scope).node.type === 'ObjectExpression';
  const node = own ? given : readBySelector(given, isOptions);
  const callee = nodeIn(node, 'callee');
  const args = nodesIn(node, 'arguments');
  const made = node.type === 'NewExpression' ? 'new ' : '';
  const optional = node['optional'] === true ? '?.' : '';
  if (own && !at.active.includes(own.node)) {
    const within = callScope(own, { args, from: scope });
    const value = returnedValue({ node: own.node, scope: within });
    if (value) return print(value.node, value.scope, { ...at, active: [...at.active, own.node] });
  }
  const printed = args.map((one) => print(one, scope, at)).join(', ');
  const inside = { ...at, called: own?.node ?? null };
  return `${made}${callee ? print(bare(callee), scope, inside) : ''}${optional}(${printed})`;
}

function printFunction(node: SyntaxNode, scope: Scope, at: Printing): string {
  if (at.active.includes(node)) return '‹itself›';
  const within = parameterScope(node, scope, `${at.functions}.`);
  const inner = { ...at, functions: at.functions + 1, active: [...at.active, node] };
  const value = returnedValue({ node, scope: within });
  if (value) return `=> ${print(value.node, value.scope, inner)}`;
  // The assertions of a called helper are read as steps of its caller.
  const statements = bodyOf(node).filter((one) => node !== at.called || !isAssertion(one));
  const names = statements
    .flatMap((one) => [one, ...nodesIn(one, 'declarations')])
    .flatMap((one) => nodeIn(one, 'id') ?? []);
  // Local names are labeled by position, and their values are printed once, where they are declared.
  names.forEach((one, index) => declarePattern(one, { scope: within, label: `‹${at.functions}:${index}›` }));
  return `=> {${statements.map((one) => print(one, within, inner)).join('; ')}}`;
}

function isAssertion(statement: SyntaxNode): boolean {
  const call = nodeIn(nodeIn(statement, 'expression'), 'argument');
  return nameOf(call && rootName(call)) === 'expect';
}

const notText = /^(?:type|start|end|range|loc|raw|parent|async|optional|declare)$/;

/** Prints any other node as its type, its own fields and its children. */
function printOther(node: SyntaxNode, inside: (node: SyntaxNode) => string): string {
  const own = Object.entries(node).flatMap(([key, value]) =>
    !notText.test(key) && /^(?:string|boolean)$/.test(typeof value) && value !== false
      ? [`${key}=${String(value)}`]
      : [],
  );
  const parts = childrenOf(node).map(inside);
  return `${node.type}(${[...own, ...parts].join(', ')})`;
}
