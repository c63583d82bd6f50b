import {
  unwrap,
  bodyOf,
  calleeOf,
  childrenOf,
  constantOf,
  cookedText,
  isFunction,
  nameOf,
  nodeIn,
  nodesIn,
  propertyOf,
  type SyntaxNode,
} from './syntax.js';
import { type LocatorText, readBySelector, readLocator } from './playwright-calls.js';
import { callScope, declarePattern, type Located, lookUp, parameterScope, type Scope } from './scope.js';
import { functionOf, moduleName, requiredBy, resolve, returnedValue } from './sources.js';

/** Code in canonical form: names are replaced by their values, and formatting and types are dropped. */
interface PrintedCode {
  readonly text: string;
  /** The locators shown as `‹locator›` in the text, in order. */
  readonly locators: readonly LocatorText[];
}

/** Thrown when code is too large to be judged; the message says why. */
export class TooLarge extends Error {}

/** The limit on the characters of one text, which can grow exponentially with the code. */
const MAX_TEXT = 200_000;

interface Printing {
  readonly locators: LocatorText[];
  /** Functions being printed: their number labels parameters, and none is printed inside itself. */
  readonly active: readonly SyntaxNode[];
}

/** Prints code so that two spellings of the same thing give the same text. Throws `TooLarge` if that text is too long. */
export function printCode(node: SyntaxNode, scope: Scope): PrintedCode {
  const at = { locators: [], active: [] };
  return { text: print(node, scope, at), locators: at.locators };
}

function print(given: SyntaxNode, scope: Scope, at: Printing): string {
  const text = printResolved(resolve(given, scope), at);
  if (text.length > MAX_TEXT) throw new TooLarge('an expression of the tests is too long to be judged');
  return text;
}

function printResolved({ node, scope }: Located, at: Printing): string {
  const inside = (one: SyntaxNode) => print(one, scope, at);
  const field = (name: string) => {
    const child = nodeIn(node, name);
    return child ? inside(child) : '';
  };
  const list = (name: string) => nodesIn(node, name).map(inside);
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
  const operator = String(node['operator']);
  switch (node.type) {
    case 'Literal':
      return printLiteral(node);
    case 'TemplateLiteral':
      return printTemplate(node, inside);
    case 'Identifier':
      return printName(node, scope);
    case 'ThisExpression':
      return 'this';
    case 'BinaryExpression':
      return printBinary(operator, field('left'), field('right'));
    case 'LogicalExpression':
    case 'AssignmentExpression':
      return `(${field('left')} ${operator} ${field('right')})`;
    case 'UnaryExpression':
      return `${operator}${/\w/.test(operator) ? ' ' : ''}${field('argument')}`;
    case 'ConditionalExpression':
      return `(${field('test')} ? ${field('consequent')} : ${field('alternate')})`;
    case 'MemberExpression':
      return printMember(node, scope, inside);
    case 'CallExpression':
    case 'NewExpression':
      return printCall(node, scope, at);
    case 'ArrayExpression':
      return `[${list('elements').join(', ')}]`;
    case 'SpreadElement':
      return `...${field('argument')}`;
    case 'ObjectExpression':
      return `{ ${list('properties').sort().join(', ')} }`;
    case 'TSEnumDeclaration':
      return `enum { ${nodesIn(nodeIn(node, 'body'), 'members').map(inside).join(', ')} }`;
    case 'TSEnumMember':
      return `${nameOf(nodeIn(node, 'id'))}: ${field('initializer')}`;
    case 'Property':
      return `${node['computed'] === true ? `[${field('key')}]` : (nameOf(nodeIn(node, 'key')) ?? field('key'))}: ${field('value')}`;
    case 'AwaitExpression':
      return `await ${field('argument')}`;
    case 'ExpressionStatement':
      return field('expression');
    case 'ReturnStatement':
      return `return ${field('argument')}`;
    case 'VariableDeclarator':
      return `${field('id')} = ${field('init')}`;
    default:
      return printOther(node, inside);
  }
}

function printLiteral(node: SyntaxNode): string {
  const value = constantOf(node);
  return value === undefined ? String(node['raw']) : JSON.stringify(value);
}

/** Prints a template literal; one whose parts are all known is printed as a plain string. */
function printTemplate(node: SyntaxNode, inside: (node: SyntaxNode) => string): string {
  const parts = nodesIn(node, 'expressions').map(inside);
  const known = parts.map(valueOf);
  const filled = nodesIn(node, 'quasis').map((quasi, index) => {
    const part = parts[index];
    return cookedText(quasi) + (part === undefined ? '' : (known[index] ?? `\${${part}}`));
  });
  const joined = filled.join('');
  return known.every((one) => one !== undefined)
    ? JSON.stringify(joined)
    : `\`${joined.replaceAll('`', '\\`')}\``;
}

/** Parses a printed string or number; undefined for anything else. */
function valueOf(text: string): string | number | undefined {
  if (!/^(?:"|-?\d)/.test(text)) return undefined;
  try {
    return JSON.parse(text) as string | number;
  } catch {
    return undefined;
  }
}

/** Prints a binary operation, and evaluates `+` of known strings. */
function printBinary(operator: string, left: string, right: string): string {
  const [a, b] = [valueOf(left), valueOf(right)];
  if (typeof a === 'string' && typeof b === 'string' && operator === '+') return JSON.stringify(a + b);
  return `(${left} ${operator} ${right})`;
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

function printMember(node: SyntaxNode, scope: Scope, inside: (node: SyntaxNode) => string): string {
  const [object, property] = [nodeIn(node, 'object'), nodeIn(node, 'property')];
  const name = propertyOf(node);
  // `require('@playwright/test').expect`
  const required = object && requiredBy(resolve(object, scope).node);
  if (name !== null && required && /playwright/.test(required)) return name;
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
  if (own && !at.active.includes(own.node)) {
    const within = callScope(own, { args, from: scope });
    const value = within && returnedValue({ node: own.node, scope: within });
    if (value) return print(value.node, value.scope, { ...at, active: [...at.active, own.node] });
  }
  const of = callee ? print(unwrap(callee), scope, at) : '';
  // What is added to Playwright's own matchers is compared where it is added.
  if (of === 'expect.extend') return 'expect';
  // The message of an assertion says nothing about what is asserted.
  const told = /^expect(?:\.soft)?$/.test(of) ? args.slice(0, 1) : args;
  const printed = told.map((one) => print(one, scope, at)).join(', ');
  return `${node.type === 'NewExpression' ? 'new ' : ''}${of}${node['optional'] === true ? '?.' : ''}(${printed})`;
}

function printFunction(node: SyntaxNode, scope: Scope, at: Printing): string {
  if (at.active.includes(node)) return '‹itself›';
  scope.project.followed.add(node);
  const depth = at.active.length;
  const within = parameterScope(node, scope, `${depth}.`);
  const inner = { ...at, active: [...at.active, node] };
  const value = returnedValue({ node, scope: within });
  const mark = node['generator'] === true ? '*' : '';
  if (value) return `${mark}=> ${print(value.node, value.scope, inner)}`;
  const statements = bodyOf(node);
  // Local names are labeled by position, and their values are printed once, where they are declared.
  const names = statements.flatMap((one) => [one, ...nodesIn(one, 'declarations')]);
  names
    .flatMap((one) => nodeIn(one, 'id') ?? [])
    .forEach((one, index) => declarePattern(one, { scope: within, label: `‹${depth}:${index}›` }));
  return `${mark}=> { ${statements.map((one) => print(one, within, inner)).join('; ')} }`;
}

const notText = /^(?:type|start|end|range|loc|raw|parent|async|optional|declare|importKind|exportKind)$/;

/** Prints any other node as its type, its own fields and its children. */
function printOther(node: SyntaxNode, inside: (node: SyntaxNode) => string): string {
  const own = Object.entries(node).flatMap(([key, value]) =>
    !notText.test(key) && /^(?:string|boolean)$/.test(typeof value) && value !== false
      ? [`${key}=${String(value)}`]
      : [],
  );
  const parts = childrenOf(node).map(inside);
  return `${node.type.replace(/Statement$/, '')}(${[...own, ...parts].join(', ')})`;
}
