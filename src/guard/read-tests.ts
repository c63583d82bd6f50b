import {
  unwrap,
  bodyOf,
  childrenOf,
  isFunction,
  nameOf,
  nodeIn,
  nodesIn,
  propertyOf,
  type SyntaxNode,
  visit,
} from '../code/syntax.js';
import {
  chainOf,
  isLocatorCall,
  isOfTest,
  type LocatorText,
  originOf,
  rootName,
} from '../code/playwright-calls.js';
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
    const hasTests = found.some((one) => one.kind === 'test' && one.file === file);
    const lines = hasTests ? at.lines : withHooks(at.lines, hooks);
    const place = { title: file, file, line: 1, source: '' };
    found.push({ kind: 'block', key: `file ${file}`, lines, hooks: null, ...place });
    visit(scope.file.program, (node) => readFixtures(node, at));
  }
  // Not until all files have been read is it known what they use of each other.
  for (const scope of modules) visit(scope.file.program, (node) => readUnused(node, scope, found));
  return found.map(({ hooks, ...one }) => ({ ...one, lines: withHooks(one.lines, hooks) }));
}

function withHooks(lines: readonly Line[], hooks: Hooks | null): readonly Line[] {
  return hooks ? withHooks([...hooks.before, ...lines, ...hooks.after], hooks.around) : lines;
}

/** Adds a line: a text, in which `‹code›` stands for the print of `of`, or the print of a node alone. */
function addLine(
  node: SyntaxNode,
  { scope, lines }: Reading,
  text = '‹code›',
  of: SyntaxNode | null = node,
): void {
  const printed = of && text.includes('‹code›') ? printCode(of, scope) : { text: '', locators: [] };
  lines.push({ ...printed, text: text.replace('‹code›', () => printed.text), ...placeOf(scope.file, node) });
}

const endsBlock = /^(?:Return|Throw|Break|Continue)Statement$/;

/** Reads statements in order. What follows one that leaves the block is never reached. */
function readAll(statements: readonly SyntaxNode[], reading: Reading): void {
  const at = reading.scope.parent === null ? reading : { ...reading, scope: innerScope(reading.scope) };
  if (at !== reading) declareAll(statements, at.scope);
  for (const one of statements) {
    read(one, at);
    if (endsBlock.test(one.type)) return;
  }
}

/** Declarations are read where they are used. */
const declarations =
  /^(?:FunctionDeclaration|Class\w+|TS\w+Declaration|Export\w+|EmptyStatement|ImportDeclaration)$/;
const control = /^(?:If|For|ForIn|ForOf|While|DoWhile|Try|Switch)Statement$|^(?:CatchClause|SwitchCase)$/;

function read(given: SyntaxNode, reading: Reading): void {
  const node = nodeIn(given, 'declaration') ?? given;
  const expression = node.type === 'ExpressionStatement' ? nodeIn(node, 'expression') : null;
  const parts = nodesIn(node, 'declarations');
  if (expression) readExpression(expression, reading);
  else if (node.type === 'VariableDeclaration')
    for (const one of parts) readDeclarator(one, node['kind'] === 'const', reading);
  else if (node.type === 'BlockStatement') readAll(nodesIn(node, 'body'), reading);
  else if (node.type === 'ForOfStatement' && !node['await']) {
    const [left, list] = [nodeIn(node, 'left'), nodeIn(node, 'right')];
    const pattern = nodeIn(nodesIn(left, 'declarations')[0], 'id') ?? left;
    if (list) readEach(node, { list, pattern, body: nodeIn(node, 'body') }, reading);
  } else if (control.test(node.type)) readControl(node, reading);
  else if (node.type === 'ImportDeclaration' && nodesIn(node, 'specifiers').length === 0)
    addLine(node, reading, `import ${nameOf(nodeIn(node, 'source'))}`);
  else if (given === node && node.type.endsWith('Expression') && !isFunction(node))
    readExpression(node, reading);
  else if (!declarations.test(node.type) && !isFunction(node) && given.type !== 'ExportDefaultDeclaration')
    addLine(node, reading);
}

const bodies = ['block', 'consequent', 'body', 'handler', 'cases', 'alternate', 'finalizer'];

/** Reads a condition, a loop or a `try`: a line for its head, and for each of its bodies one that opens it. */
function readControl(node: SyntaxNode, from: Reading): void {
  const inside = bodies.filter((field) => nodeIn(node, field) ?? nodesIn(node, field)[0]);
  const kept = inside.flatMap((field) => [node[field]].flat());
  const reading = { ...from, scope: innerScope(from.scope) };
  const param = nodeIn(node, 'param');
  if (param) declarePattern(param, { scope: reading.scope, label: '‹error›' });
  const heads = childrenOf(node).filter((one) => one !== param && !kept.includes(one));
  declareAll(heads, reading.scope);
  const [only = null, ...others] = heads;
  const all = others.length > 0 ? { ...node, type: 'SequenceExpression', expressions: heads } : only;
  const word = node.type.replace(/Statement|Clause/, '').toLowerCase();
  const start = from.lines.length;
  addLine(node, reading, all ? `${word} (‹code›) {` : `${word} {`, all);
  const around = [...from.around, ...from.lines.slice(start)];
  for (const field of inside) {
    if (field !== inside[0]) addLine(node, reading, `} ${field} {`);
    const body = nodeIn(node, field);
    const at = { ...reading, around };
    if (body?.type === 'CatchClause') readControl(body, at);
    else readAll(body ? statementsOf(body) : nodesIn(node, field), at);
  }
  addLine(node, reading, '}');
}

const statementsOf = (body: SyntaxNode) => (body.type === 'BlockStatement' ? nodesIn(body, 'body') : [body]);

function mayLeaveEarly(node: SyntaxNode): boolean {
  if (isFunction(node)) return false;
  return /^(?:Return|Break|Continue)Statement$/.test(node.type) || childrenOf(node).some(mayLeaveEarly);
}

interface Each {
  readonly list: SyntaxNode;
  readonly pattern: SyntaxNode | null;
  readonly body: SyntaxNode | null;
}

/** Reads what is done for each element of an array literal, or once for all elements of any other list. */
function readEach(node: SyntaxNode, { list, pattern, body }: Each, reading: Reading): void {
  const found = resolve(list, reading.scope);
  const elements = found.node.type === 'ArrayExpression' ? nodesIn(found.node, 'elements') : [];
  const readWith = (init: SyntaxNode | null, at: Reading) => {
    const scope = innerScope(at.scope);
    if (pattern) declarePattern(pattern, { scope, label: '‹each›', init, from: found.scope });
    if (body) readAll(statementsOf(body), { ...at, scope });
  };
  const isKnown = elements.length > 0 && elements.length <= MAX_EACH && body && !mayLeaveEarly(body);
  // An array that starts out empty is filled elsewhere.
  if (isKnown && elements.every((one) => one.type !== 'SpreadElement')) {
    for (const one of elements) readWith(one, reading);
    return;
  }
  const start = reading.lines.length;
  addLine(node, reading, 'for (each of ‹code›) {', list);
  readWith(null, { ...reading, around: [...reading.around, ...reading.lines.slice(start)] });
  addLine(node, reading, '}');
}

function readDeclarator(node: SyntaxNode, isConst: boolean, reading: Reading): void {
  const [id, init] = [nodeIn(node, 'id'), nodeIn(node, 'init')];
  const { scope, lines } = reading;
  // Constants of a file are read where they are used.
  if (!id || !init || (scope.parent === null && isConst)) return;
  const returned = readCall(init, reading);
  const value = returned ?? { node: init, scope };
  if (isConst && isNaming(value.node, value.scope)) {
    if (returned) declarePattern(id, { scope, label: '', init: value.node, from: value.scope });
    return;
  }
  reading.taken.count += 1;
  const label = isConst ? `‹${reading.taken.count}›` : `variable ${nameOf(id) ?? ''}`;
  const { text, locators } = printCode(value.node, value.scope);
  lines.push({ text: `${label} = ${text}`, locators, ...placeOf(scope.file, node) });
  if (isConst) declarePattern(id, { scope, label });
}

/** Whether an expression only names something, whenever it is evaluated: it takes nothing from the page and has no effect. */
function isNaming(given: SyntaxNode, scope: Scope): boolean {
  const node = unwrap(given);
  if (isFunction(node) || node.type.startsWith('Class')) return true;
  if (/^(?:Await|Assignment|Update|TaggedTemplate|Yield|Import)Expression$/.test(node.type)) return false;
  const callee = nodeIn(node, 'callee');
  if (node.type === 'NewExpression') return callee !== null && classOf(callee, scope) !== null;
  const isLocator = !callee || isLocatorCall(propertyOf(callee) ?? '');
  if (!isLocator && !printCode(node, scope).text.startsWith('‹locator›')) return false;
  return childrenOf(node).every((one) => isNaming(one, scope));
}

/**
 * Reads a call of a function of the tests in its place, and returns what it returns. Null for any other call, and if the function may return
 * early, is not awaited, or is handed something that is taken from the page for it.
 */
function readCall(given: SyntaxNode, reading: Reading): Located | null {
  const awaited = unwrap(given).type === 'AwaitExpression';
  const call = unwrap((awaited && nodeIn(unwrap(given), 'argument')) || given);
  const callee = call.type === 'CallExpression' ? nodeIn(call, 'callee') : null;
  const called = callee && functionOf(callee, reading.scope);
  if (!called || reading.within.includes(called.node) || reading.within.length > MAX_CALLS) return null;
  const statements = bodyOf(called.node);
  const last = statements.at(-1);
  const returned = last?.type === 'ReturnStatement' ? last : null;
  const isLeft = statements.some((one) => one !== returned && mayLeaveEarly(one));
  const isLate = (called.node['async'] === true && !awaited) || called.node['generator'] === true;
  const args = nodesIn(call, 'arguments');
  if (isLeft || isLate || call['optional'] === true || !args.every((one) => isNaming(one, reading.scope)))
    return null;
  const scope = callScope(called, { args, from: reading.scope });
  if (!scope) return null;
  called.scope.project.followed.add(called.node);
  const at = { ...reading, scope: innerScope(scope), within: [...reading.within, called.node] };
  declareAll(statements, at.scope);
  for (const one of statements) {
    if (one !== returned) read(one, at);
    if (endsBlock.test(one.type)) break;
  }
  const { start, end } = call;
  const nothing = { type: 'Identifier', name: 'undefined', start, end };
  const body = nodeIn(called.node, 'body');
  const value = (body?.type === 'BlockStatement' ? nodeIn(returned, 'argument') : body) ?? nothing;
  const isWaited = awaited && value !== nothing && value.type !== 'AwaitExpression';
  return {
    node: isWaited ? { type: 'AwaitExpression', argument: value, start, end } : value,
    scope: at.scope,
  };
}

function readExpression(given: SyntaxNode, reading: Reading): void {
  const node = unwrap(given);
  const call = unwrap((node.type === 'AwaitExpression' && nodeIn(node, 'argument')) || node);
  const callee = call.type === 'CallExpression' ? nodeIn(call, 'callee') : null;
  if (!callee) return isFollowed(node) ? undefined : addLine(node, reading);
  if (isOfTest(callee, reading.scope) && readDefinition(call, callee, reading, call !== node)) return;
  const list = nodeIn(callee, 'object');
  const [first] = nodesIn(call, 'arguments');
  if (nameOf(list) === 'console') return;
  if (propertyOf(callee) === 'forEach' && list && first && isFunction(first) && first['async'] !== true) {
    const [pattern = null] = nodesIn(first, 'params');
    return readEach(call, { list, pattern, body: nodeIn(first, 'body') }, reading);
  }
  const value = readCall(node, reading);
  if (!value) addLine(node, reading);
  else if (!isNaming(value.node, value.scope)) readExpression(value.node, { ...reading, scope: value.scope });
}

/** Fields of page objects and exports of modules are read where they are used. */
function isFollowed(node: SyntaxNode): boolean {
  const left = node.type === 'AssignmentExpression' ? nodeIn(node, 'left') : null;
  const name = left && String(rootName(left)?.['name']);
  return nodeIn(left, 'object')?.type === 'ThisExpression' || name === 'module' || name === 'exports';
}

/** Fixtures that Playwright has itself. */
const builtInFixtures =
  /^(?:page|context|browser|browserName|request|playwright|headless|channel|isMobile|baseURL|viewport|locale|colorScheme)$/;

/** Reads the function of a test, a hook or a step. The fixtures that it asks for run for it. */
function readCallback(made: SyntaxNode, from: Scope, reading: Reading): void {
  from.project.followed.add(made);
  const keys = nodesIn(nodesIn(made, 'params')[0], 'properties').flatMap(
    (one) => nameOf(nodeIn(one, 'key')) ?? '…',
  );
  const asked = keys.filter((key) => !builtInFixtures.test(key)).sort();
  const at = { ...reading, scope: parameterScope(made, from), within: [...reading.within, made] };
  if (asked.length > 0) addLine(made, at, `fixtures: ${asked.join(', ')}`);
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
    if (name.endsWith('All')) addLine(call, at, `${name} {`);
    lines.push(...reading.around);
    readCallback(found.node, found.scope, at);
    if (name.endsWith('All')) addLine(call, at, '}');
    return true;
  }
  const [first, details] = args;
  const isDescribe = chain.includes('describe');
  if (
    !first ||
    /^(?:use|extend|configure)$/.test(name) ||
    (first === last && !isDescribe) ||
    (isFunction(unwrap(first)) && !isDescribe)
  )
    return false;
  const title = first === last ? '' : printCode(first, reading.scope).text.replaceAll(/^"|"$/g, '');
  const titles = [...reading.titles, title];
  const lines: Line[] = [];
  const hooks = isDescribe ? { around: reading.hooks, before: [], after: [] } : reading.hooks;
  const at = { ...reading, lines, titles, hooks, around: [], taken: { count: 0 } };
  lines.push(...reading.around);
  const marks = chain.filter((one) => one !== 'describe');
  if (marks.length > 0) addLine(call, at, `test.${marks.join('.')}`);
  if (args.length > 2 && details) addLine(details, at);
  const origin = originOf(rootName(callee) ?? callee, reading.scope);
  if (origin !== 'playwright') addLine(call, at, `test of ${origin}`);
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
      else addLine(one, at);
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
  const made = /^(?:FunctionDeclaration)$/.test(node.type) ? node : value && unwrap(value);
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
  if (only) addLine(only.node, { ...at, scope: only.scope });
  else if (isFunction(made)) readCallback(made, scope, at);
  else addLine(made, at);
  found.push({ kind: 'unused', key: `unused ${title}`, title, lines, ...placeOf(scope.file, node) });
}
