import { bare, bodyOf, isFunction, nameOf, propertyOf } from '../code/expressions.js';
import { isLocatorCall, type LocatorText } from '../code/locator.js';
import { printCode } from '../code/print.js';
import {
  callScope,
  declareAll,
  declarePattern,
  innerScope,
  type Located,
  parameterScope,
  type Project,
  type Scope,
} from '../code/scope.js';
import { type Place, placeOf } from '../code/source-file.js';
import { classOf, functionOf, resolve, returnedValue } from '../code/sources.js';
import { childrenOf, nodeIn, nodesIn, type SyntaxNode, visit } from '../code/syntax.js';
import { chainOf, isOfTest, originOf, rootName } from '../code/test-object.js';

/** One step of a test in canonical form, with its locators blanked, and the place where it is written. */
export interface Line extends Place {
  readonly text: string;
  readonly locators: readonly LocatorText[];
}

/** What hooks of a describe block or a file do. Hooks that are declared after a test run for it, too. */
interface Hooks {
  readonly around: Hooks | null;
  readonly before: Line[];
  readonly after: Line[];
}

/** Code that is compared as one: a test with its hooks and helpers, a fixture, or what no test was seen to use. */
export interface Printed extends Place {
  readonly kind: 'test' | 'fixture' | 'block' | 'unused';
  /** The same before and after. */
  readonly key: string;
  readonly title: string;
  readonly lines: readonly Line[];
}

/** The position of the reader. */
interface Reading {
  readonly scope: Scope;
  readonly lines: Line[];
  readonly hooks: Hooks;
  /** The titles of the enclosing describe blocks. */
  readonly titles: readonly string[];
  /** The loops and conditions around the definition of a test. */
  readonly around: readonly Line[];
  readonly found: (Printed & { readonly hooks: Hooks | null })[];
  /** Functions being read, to stop recursion. */
  readonly within: readonly SyntaxNode[];
  /** Numbers the values that a test takes from the page. */
  readonly taken: { count: number };
}

/** A longer list is read once, with one element standing for all. */
const MAX_EACH = 100;
const MAX_CALLS = 20;

/** Prints every test of these files, the fixtures, what runs when a file is loaded, and whatever no test was seen to use. */
export function readTests({ files }: Project, affected: ReadonlySet<string>): Printed[] {
  const found: Reading['found'] = [];
  const modules = [...files.values()].filter(({ file }) => affected.has(file.path));
  for (const scope of modules) {
    const hooks: Hooks = { around: null, before: [], after: [] };
    const at = { scope, hooks, found, lines: [], titles: [], around: [], within: [], taken: { count: 0 } };
    readAll(nodesIn(scope.file.program, 'body'), at);
    const { path: file } = scope.file;
    // Hooks of a file without tests run for the tests of the files that import it.
    const hasTests = found.some((one) => one.kind === 'test' && one.hooks === hooks);
    const lines = hasTests ? at.lines : hooked(at.lines, hooks);
    const place = { title: file, file, line: 1, source: '' };
    found.push({ kind: 'block', key: `file ${file}`, lines, hooks: null, ...place });
    visit(scope.file.program, (node) => readFixtures(node, at));
  }
  // Only now is it known what other files use.
  for (const scope of modules) visit(scope.file.program, (node) => readUnused(node, scope, found));
  return found.map(({ hooks, ...one }) => ({ ...one, lines: hooked(one.lines, hooks) }));
}

function hooked(lines: readonly Line[], hooks: Hooks | null): readonly Line[] {
  return hooks ? hooked([...hooks.before, ...lines, ...hooks.after], hooks.around) : lines;
}

function push(node: SyntaxNode, { scope, lines }: Reading, text?: string): void {
  const printed = text === undefined ? printCode(node, scope) : { text, locators: [] };
  lines.push({ ...printed, ...placeOf(scope.file, node) });
}

/** Adds a line that begins with a word, and the print of a node. */
function head(
  node: SyntaxNode,
  reading: Reading,
  words: (text: string) => string,
  of: SyntaxNode | null,
): void {
  const { text, locators } = of ? printCode(of, reading.scope) : { text: '', locators: [] };
  reading.lines.push({ text: words(text), locators, ...placeOf(reading.scope.file, node) });
}

const ends = /^(?:Return|Throw|Break|Continue)Statement$/;

/** Reads statements in order. What follows one that leaves the block is never reached. */
function readAll(statements: readonly SyntaxNode[], reading: Reading): void {
  const at = reading.scope.parent === null ? reading : { ...reading, scope: innerScope(reading.scope) };
  if (at !== reading) declareAll(statements, at.scope);
  for (const one of statements) {
    read(one, at);
    if (ends.test(one.type)) return;
  }
}

function read(given: SyntaxNode, reading: Reading): void {
  const node = nodeIn(given, 'declaration') ?? given;
  const inner = (field: string) => {
    const child = nodeIn(node, field);
    if (child) readAll(child.type === 'BlockStatement' ? nodesIn(child, 'body') : [child], reading);
  };
  switch (node.type) {
    case 'ExpressionStatement': {
      const expression = nodeIn(node, 'expression');
      return expression ? readExpression(expression, reading) : undefined;
    }
    case 'VariableDeclaration':
      for (const one of nodesIn(node, 'declarations')) readDeclarator(one, node['kind'] === 'const', reading);
      return;
    case 'BlockStatement':
      return readAll(nodesIn(node, 'body'), reading);
    case 'IfStatement':
      return nested(
        node,
        reading,
        nodeIn(node, 'test'),
        (text) => `if (${text}) {`,
        (at) => {
          readBody(nodeIn(node, 'consequent'), at);
          if (nodeIn(node, 'alternate')) push(node, at, '} else {');
          readBody(nodeIn(node, 'alternate'), at);
        },
      );
    case 'TryStatement': {
      push(node, reading, 'try {');
      inner('block');
      const handler = nodeIn(node, 'handler');
      if (handler) {
        push(handler, reading, '} catch {');
        const scope = innerScope(reading.scope);
        const param = nodeIn(handler, 'param');
        if (param) declarePattern(param, { scope, label: '‹error›' });
        readAll(bodyOf(handler), { ...reading, scope });
      }
      if (nodeIn(node, 'finalizer')) push(node, reading, '} finally {');
      inner('finalizer');
      return push(node, reading, '}');
    }
    case 'ForOfStatement': {
      const [left, right] = [nodeIn(node, 'left'), nodeIn(node, 'right')];
      const pattern = nodeIn(nodesIn(left, 'declarations')[0], 'id') ?? left;
      if (!right) return;
      return readEach(node, { list: right, pattern, canLeave: leaves(node) }, reading, (at) =>
        readBody(nodeIn(node, 'body'), at),
      );
    }
    case 'ForStatement':
    case 'ForInStatement':
    case 'WhileStatement':
    case 'DoWhileStatement': {
      const parts = childrenOf(node).filter((one) => one !== nodeIn(node, 'body'));
      const at = { ...reading, scope: innerScope(reading.scope) };
      declareAll(parts, at.scope);
      const said = parts.map((one) => printCode(one, at.scope).text).join('; ');
      push(node, at, `${node.type.replace('Statement', '').toLowerCase()} (${said}) {`);
      readBody(nodeIn(node, 'body'), at);
      return push(node, at, '}');
    }
    case 'ImportDeclaration':
      return nodesIn(node, 'specifiers').length === 0
        ? push(node, reading, `import ${nameOf(nodeIn(node, 'source'))}`)
        : undefined;
    // What these declare is read where it is used.
    case 'FunctionDeclaration':
    case 'ClassDeclaration':
    case 'TSEnumDeclaration':
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
    case 'EmptyStatement':
      return;
    default:
      if (!isFunction(node) && given.type !== 'ExportDefaultDeclaration') push(node, reading);
  }
}

function readBody(node: SyntaxNode | null, reading: Reading): void {
  if (node) readAll(node.type === 'BlockStatement' ? nodesIn(node, 'body') : [node], reading);
}

/** Reads what is inside of braces. Tests that are defined there are defined under that condition. */
function nested(
  node: SyntaxNode,
  reading: Reading,
  of: SyntaxNode | null,
  words: (text: string) => string,
  inside: (at: Reading) => void,
): void {
  const start = reading.lines.length;
  head(node, reading, words, of);
  inside({ ...reading, around: [...reading.around, ...reading.lines.slice(start)] });
  push(node, reading, '}');
}

function leaves(node: SyntaxNode): boolean {
  if (isFunction(node)) return false;
  return /^(?:Return|Break|Continue)Statement$/.test(node.type) || childrenOf(node).some(leaves);
}

interface Each {
  readonly list: SyntaxNode;
  readonly pattern: SyntaxNode | null;
  readonly canLeave: boolean;
}

/** Reads what is done for each element of an array literal, or once for all elements of any other list. */
function readEach(
  node: SyntaxNode,
  { list, pattern, canLeave }: Each,
  reading: Reading,
  readOne: (at: Reading) => void,
): void {
  const found = resolve(list, reading.scope);
  const elements = found.node.type === 'ArrayExpression' ? nodesIn(found.node, 'elements') : [];
  const readWith = (init: SyntaxNode | null, at: Reading) => {
    const scope = innerScope(at.scope);
    if (pattern) declarePattern(pattern, { scope, label: '‹each›', init, from: found.scope });
    readOne({ ...at, scope });
  };
  const isKnown = elements.length > 0 && elements.length <= MAX_EACH && !canLeave;
  // An array that begins empty is filled elsewhere.
  if (isKnown && elements.every((one) => one.type !== 'SpreadElement'))
    for (const one of elements) readWith(one, reading);
  else
    nested(
      node,
      reading,
      list,
      (text) => `for (each of ${text}) {`,
      (at) => readWith(null, at),
    );
}

function readDeclarator(node: SyntaxNode, isConst: boolean, reading: Reading): void {
  const [id, init] = [nodeIn(node, 'id'), nodeIn(node, 'init')];
  // What a file declares is read where it is used.
  if (!id || !init || (reading.scope.parent === null && isConst)) return;
  const value = readCall(init, reading);
  const { scope } = reading;
  if (isConst && value && isNaming(value.node, value.scope))
    return declarePattern(id, { scope, label: '', init: value.node, from: value.scope });
  const from = value ?? { node: init, scope };
  if (!value && isConst && isNaming(init, scope)) return;
  reading.taken.count += 1;
  const label = isConst ? `‹${reading.taken.count}›` : `variable ${nameOf(id) ?? ''}`;
  const { text, locators } = printCode(from.node, from.scope);
  reading.lines.push({ text: `${label} = ${text}`, locators, ...placeOf(scope.file, node) });
  if (isConst) declarePattern(id, { scope, label });
}

/** Whether an expression only names something, whenever it is evaluated: it takes nothing from the page and has no effect. */
function isNaming(given: SyntaxNode, scope: Scope): boolean {
  const node = bare(given);
  if (isFunction(node) || node.type.startsWith('Class')) return true;
  if (/^(?:Await|Assignment|Update|TaggedTemplate|Yield|Import)Expression$/.test(node.type)) return false;
  const callee = nodeIn(node, 'callee');
  if (node.type === 'NewExpression') return callee !== null && classOf(callee, scope) !== null;
  if (callee) {
    const isLocator = isLocatorCall(propertyOf(callee) ?? '');
    if (!isLocator && !printCode(node, scope).text.startsWith('‹locator›')) return false;
  }
  return childrenOf(node).every((one) => isNaming(one, scope));
}

/** Reads a call of a function of the tests in its place, and returns what it returns; null for anything else. */
function readCall(given: SyntaxNode, reading: Reading): Located | null {
  const awaited = bare(given).type === 'AwaitExpression';
  const call = bare((awaited && nodeIn(bare(given), 'argument')) || given);
  const callee = call.type === 'CallExpression' ? nodeIn(call, 'callee') : null;
  const own = callee && functionOf(callee, reading.scope);
  if (!own || reading.within.includes(own.node) || reading.within.length > MAX_CALLS) return null;
  const statements = bodyOf(own.node);
  const last = statements.at(-1);
  const isBlock = nodeIn(own.node, 'body')?.type === 'BlockStatement';
  const isLeft =
    statements.some((one) => one !== last && leaves(one)) ||
    (last?.type !== 'ReturnStatement' && last && leaves(last));
  const isLate = own.node['async'] === true && !awaited;
  if (isLeft || isLate || own.node['generator'] === true || call['optional'] === true) return null;
  own.scope.project.followed.add(own.node);
  const args = nodesIn(call, 'arguments').map((one) => taken(one, reading));
  const scope = callScope(own, { args, from: reading.scope });
  if (!scope) return null;
  const at = { ...reading, scope: innerScope(scope), within: [...reading.within, own.node] };
  declareAll(statements, at.scope);
  for (const one of statements) {
    if (one.type === 'ReturnStatement') break;
    read(one, at);
    if (ends.test(one.type)) break;
  }
  const returned = last?.type === 'ReturnStatement' ? nodeIn(last, 'argument') : null;
  const value = isBlock ? returned : nodeIn(own.node, 'body');
  if (!value)
    return {
      node: { type: 'Identifier', name: 'undefined', start: call.start, end: call.end },
      scope: at.scope,
    };
  return {
    node:
      awaited && value.type !== 'AwaitExpression'
        ? { ...call, type: 'AwaitExpression', argument: value }
        : value,
    scope: at.scope,
  };
}

/** Returns an argument, or, if it takes something from the page, a name for what it took before the call. */
function taken(node: SyntaxNode, { scope, lines, taken: numbers }: Reading): SyntaxNode {
  if (node.type === 'SpreadElement' || isNaming(node, scope)) return node;
  numbers.count += 1;
  const label = `‹${numbers.count}›`;
  const { text, locators } = printCode(node, scope);
  lines.push({ text: `${label} = ${text}`, locators, ...placeOf(scope.file, node) });
  scope.names.set(label, { kind: 'opaque', label });
  return { type: 'Identifier', name: label, start: node.start, end: node.end };
}

function readExpression(given: SyntaxNode, reading: Reading): void {
  const node = bare(given);
  const call = bare((node.type === 'AwaitExpression' && nodeIn(node, 'argument')) || node);
  const callee = call.type === 'CallExpression' ? nodeIn(call, 'callee') : null;
  if (!callee) return isFollowed(node) ? undefined : push(node, reading);
  if (isOfTest(callee, reading.scope) && readDefinition(call, callee, reading, call !== node)) return;
  const object = nodeIn(callee, 'object');
  const [first] = nodesIn(call, 'arguments');
  if (nameOf(object) === 'console') return;
  if (propertyOf(callee) === 'forEach' && object && first && isFunction(first) && !first['async']) {
    const [pattern = null] = nodesIn(first, 'params');
    return readEach(
      call,
      { list: object, pattern, canLeave: leaves(nodeIn(first, 'body') ?? first) },
      reading,
      (at) => readBody(nodeIn(first, 'body'), at),
    );
  }
  const value = readCall(node, reading);
  if (!value) return push(node, reading);
  if (!isNaming(value.node, value.scope)) readExpression(value.node, { ...reading, scope: value.scope });
}

/** Fields of page objects and exports of modules are read where they are used. */
function isFollowed(node: SyntaxNode): boolean {
  const left = node.type === 'AssignmentExpression' ? nodeIn(node, 'left') : null;
  const object = nodeIn(left, 'object');
  return (
    object?.type === 'ThisExpression' || /^(?:module|exports)$/.test(String(rootName(left ?? node)?.['name']))
  );
}

/** Fixtures that Playwright has itself. */
const own =
  /^(?:page|context|browser|browserName|request|playwright|headless|channel|isMobile|baseURL|viewport|locale|colorScheme)$/;

/** Reads the function of a test, a hook or a step. The fixtures that it asks for run for it. */
function readCallback(made: SyntaxNode, from: Scope, reading: Reading): void {
  from.project.followed.add(made);
  const keys = nodesIn(nodesIn(made, 'params')[0], 'properties').flatMap(
    (one) => nameOf(nodeIn(one, 'key')) ?? '…',
  );
  const asked = keys.filter((key) => !own.test(key)).sort();
  const at = { ...reading, scope: parameterScope(made, from), within: [...reading.within, made] };
  if (asked.length > 0) push(made, at, `fixtures: ${asked.join(', ')}`);
  const body = nodeIn(made, 'body');
  if (body?.type === 'BlockStatement') readAll(nodesIn(body, 'body'), at);
  else if (body) readExpression(body, at);
}

/** Reads a call of Playwright's `test` that defines a test, a describe block, a hook or a step; returns false for any other call. */
function readDefinition(call: SyntaxNode, callee: SyntaxNode, reading: Reading, isAwaited: boolean): boolean {
  const chain = chainOf(callee);
  const name = chain.at(-1) ?? '';
  const args = nodesIn(call, 'arguments');
  const last = args.at(-1);
  const found = last && resolve(last, reading.scope);
  if (!found || !isFunction(found.node)) return false;
  if (name === 'step') {
    if (!isAwaited || args.length > 2) return false;
    readCallback(found.node, found.scope, reading);
    return true;
  }
  if (/^(?:before|after)(?:Each|All)$/.test(name)) {
    const lines = name.startsWith('before') ? reading.hooks.before : reading.hooks.after;
    const at = { ...reading, lines };
    if (name.endsWith('All')) push(call, at, `${name} {`);
    lines.push(...reading.around);
    readCallback(found.node, found.scope, at);
    if (name.endsWith('All')) push(call, at, '}');
    return true;
  }
  const [first, details] = args;
  const isDescribe = chain.includes('describe');
  if (
    !first ||
    /^(?:use|extend|configure)$/.test(name) ||
    (first === last && !isDescribe) ||
    (isFunction(bare(first)) && !isDescribe)
  )
    return false;
  const title = first === last ? '' : printCode(first, reading.scope).text.replaceAll(/^"|"$/g, '');
  const titles = [...reading.titles, title];
  const lines: Line[] = [];
  const hooks = isDescribe ? { around: reading.hooks, before: [], after: [] } : reading.hooks;
  const at = { ...reading, lines, titles, hooks, around: [], taken: { count: 0 } };
  lines.push(...reading.around);
  const marks = chain.filter((one) => one !== 'describe');
  if (marks.length > 0) push(call, at, `test.${marks.join('.')}`);
  if (args.length > 2 && details) push(details, at);
  const origin = originOf(rootName(callee) ?? callee, reading.scope);
  if (origin !== 'playwright') push(call, at, `test of ${origin}`);
  readCallback(found.node, found.scope, at);
  const place = placeOf(reading.scope.file, call);
  const shown = titles.filter(Boolean).join(' › ');
  const kind = isDescribe ? 'block' : 'test';
  const key = `${kind} ${place.file} ${titles.join(' › ')}`;
  reading.found.push({ kind, key, title: shown, lines, hooks: isDescribe ? null : hooks, ...place });
  return true;
}

/** Reads the fixtures of `test.extend({ cart: async ({ page }, use) => … })`, each on its own. */
function readFixtures(node: SyntaxNode, reading: Reading): void {
  const callee = node.type === 'CallExpression' ? nodeIn(node, 'callee') : null;
  const object = nodeIn(callee, 'object');
  if (!object || propertyOf(callee) !== 'extend') return;
  if (!isOfTest(object, reading.scope) && printCode(object, reading.scope).text !== 'expect') return;
  const [first] = nodesIn(node, 'arguments');
  const given = first && resolve(first, reading.scope);
  for (const property of given ? nodesIn(given.node, 'properties') : []) {
    const title = nameOf(nodeIn(property, 'key')) ?? '…';
    const value = nodeIn(property, 'value') ?? property;
    const parts = value.type === 'ArrayExpression' ? nodesIn(value, 'elements') : [value];
    const lines: Line[] = [];
    const at = { ...reading, scope: given?.scope ?? reading.scope, lines, taken: { count: 0 } };
    for (const one of parts) {
      if (isFunction(one)) readCallback(one, at.scope, at);
      else push(one, at);
    }
    const place = placeOf(at.scope.file, property);
    reading.found.push({
      kind: 'fixture',
      key: `fixture ${title}`,
      title: `fixture ${title}`,
      lines,
      hooks: null,
      ...place,
    });
  }
}

/** Reads a function or a value that no test was seen to use: it is not used, or used in a way that cannot be followed. */
function readUnused(node: SyntaxNode, scope: Scope, found: Printed[]): void {
  const { followed } = scope.project;
  const value = ['value', 'init', 'right', 'declaration'].flatMap((field) => nodeIn(node, field) ?? [])[0];
  const made = /^(?:FunctionDeclaration)$/.test(node.type) ? node : value && bare(value);
  const isDeclared =
    /^(?:FunctionDeclaration|VariableDeclarator|MethodDefinition|PropertyDefinition|AssignmentExpression|ExportDefaultDeclaration)$/.test(
      node.type,
    );
  if (!made || !isDeclared || followed.has(made) || (value && followed.has(value))) return;
  const isOfFile =
    isFunction(made) ||
    node.type === 'PropertyDefinition' ||
    scope.names.get(nameOf(nodeIn(node, 'id')) ?? '')?.kind === 'value';
  if (!isOfFile && !(node.type === 'AssignmentExpression' && isFollowed(node))) return;
  const title =
    nameOf(nodeIn(node, 'key') ?? nodeIn(node, 'id')) ?? propertyOf(nodeIn(node, 'left')) ?? 'default';
  const lines: Line[] = [];
  const at = {
    scope,
    lines,
    hooks: { around: null, before: [], after: [] },
    found: [],
    titles: [],
    around: [],
    within: [],
    taken: { count: 0 },
  };
  const only = isFunction(made) ? returnedValue({ node: made, scope: parameterScope(made, scope) }) : null;
  if (only) push(only.node, { ...at, scope: only.scope });
  else if (isFunction(made)) readCallback(made, scope, at);
  else push(made, at);
  found.push({ kind: 'unused', key: `unused ${title}`, title, lines, ...placeOf(scope.file, node) });
}
