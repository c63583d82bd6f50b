import { bare, bodyOf, cookedText, isFunction, nameOf } from '../../code/expressions.js';
import { callScope, declareAll, declarePattern, innerScope, lookUp } from '../../code/scope.js';
import { classOf } from '../../code/sources.js';
import { childrenOf, nodeIn, nodesIn, type SyntaxNode, visit } from '../../code/syntax.js';
import { rootName } from '../../code/test-object.js';
import { readCall } from './call-steps.js';
import { given, pureClass } from './calls.js';
import { actionsIn, guarded, push, readEach, readFunction, type Reading, still, textOf } from './reading.js';

type Reader = (node: SyntaxNode, reading: Reading) => void;

/** How nodes of these types are read; `readOther` reads all others. */
const byTypes: readonly (readonly [types: string, Reader])[] = [
  ['Program BlockStatement StaticBlock', (node, at) => below(node, 'body', at)],
  ['IfStatement ConditionalExpression LogicalExpression SwitchCase', readBranches],
  ['TryStatement', readTry],
  ['ForOfStatement', readForOf],
  ['ForStatement ForInStatement WhileStatement DoWhileStatement SwitchStatement', readLoop],
  ['VariableDeclarator', readDeclaration],
  ['ReturnStatement AwaitExpression', (node, at) => below(node, 'argument', { ...at, awaited: true })],
  ['ThrowStatement', (node, at) => push(node, at, { kind: 'check', verb: 'throw', data: '' })],
  ['ExpressionStatement', (node, at) => below(node, 'expression', still(at))],
  ['CallExpression', readCall],
  ['TaggedTemplateExpression', (node, at) => readCall(callOfTag(node), at)],
  ['NewExpression', readNew],
  ['AssignmentExpression UpdateExpression', readAssignment],
  ['ClassDeclaration ClassExpression', (node, at) => void readFields(node, true, still(at))],
];
const readers = new Map(
  byTypes.flatMap(([types, reader]) => types.split(' ').map((type) => [type, reader] as const)),
);

/** Reads what a statement or an expression does, in source order. */
export function read(given: SyntaxNode, reading: Reading): void {
  const node = bare(given);
  (readers.get(node.type) ?? readOther)(node, reading);
}

/** Reads a node that has an effect of its own, or else its children. */
function readOther(node: SyntaxNode, reading: Reading): void {
  // What a module re-exports from another one.
  if (/^Export(?:Named|All)Declaration$/.test(node.type) && nodeIn(node, 'source'))
    for (const one of [...nodesIn(node, 'specifiers'), nodeIn(node, 'exported') ?? node])
      push(one, reading, { kind: 'check', verb: 'exports', data: nameOf(nodeIn(one, 'exported')) ?? '*' });
  const isEffect =
    node.type === 'ImportExpression' ||
    node['operator'] === 'delete' ||
    (node.type === 'ImportDeclaration' && nodesIn(node, 'specifiers').length === 0);
  if (isEffect) push(node, reading, { verb: node.type, data: textOf(node, reading), rule: 'patched' });
  else if (!node.type.startsWith('TS') && !isFunction(node))
    for (const child of childrenOf(node)) read(child, reading);
}

/** Returns the call that a tagged template makes: `` sql`select ${id}` `` calls `sql` with the texts and the values. */
function callOfTag(node: SyntaxNode): SyntaxNode {
  const quasi = nodeIn(node, 'quasi');
  const texts = nodesIn(quasi, 'quasis').map((one) => ({ ...one, type: 'Literal', value: cookedText(one) }));
  const { start, end } = quasi ?? node;
  const strings = { type: 'ArrayExpression', elements: texts, start, end };
  const args = [strings, ...nodesIn(quasi, 'expressions')];
  return { ...node, type: 'CallExpression', callee: node['tag'], arguments: args };
}

/** Reads what is in a field, if anything: a node, or a list of statements. */
function below(node: SyntaxNode, field: string, reading: Reading): void {
  const child = nodeIn(node, field);
  if (child) read(child, reading);
  else readBlock(nodesIn(node, field), reading);
}

/** Reads statements in order. Those after a statement that may leave the block get an `early-return` guard. */
function readBlock(statements: readonly SyntaxNode[], reading: Reading): void {
  let at: Reading = { ...still(reading), scope: innerScope(reading.scope) };
  declareAll(statements, at.scope);
  for (const statement of statements) {
    read(statement, at);
    if (/^(?:Return|Throw|Break|Continue)Statement$/.test(statement.type)) return;
    if (leaves(statement)) at = guarded(at, `early-return unless ${textOf(statement, at)}`);
  }
}

function leaves(node: SyntaxNode): boolean {
  if (isFunction(node)) return false;
  return /^(?:Return|Break|Continue)Statement$/.test(node.type) || childrenOf(node).some(leaves);
}

/** For each operator, the word that says how its right side depends on its left side. */
const hangs: Readonly<Record<string, string>> = { '&&': 'if', '||': 'if not', '??': 'if no' };

function readBranches(node: SyntaxNode, reading: Reading): void {
  const test = nodeIn(node, 'test') ?? nodeIn(node, 'left');
  const condition = textOf(test, reading);
  const on = (word: string) => guarded(reading, `made-conditional ${word} ${condition}`);
  if (test) read(test, still(reading));
  below(node, 'consequent', on('if'));
  below(node, 'alternate', on('if not'));
  below(node, 'right', on(hangs[String(node['operator'])] ?? ''));
}

/** Reads a `try`. A handler that rethrows swallows nothing; a `finally` that returns drops the error. */
function readTry(node: SyntaxNode, reading: Reading): void {
  const [handler, finalizer] = [nodeIn(node, 'handler'), nodeIn(node, 'finalizer')];
  const swallows = (handler !== null && !throwsAgain(handler)) || (finalizer !== null && leaves(finalizer));
  below(node, 'block', swallows ? guarded(reading, 'error-swallowed') : reading);
  if (handler) {
    const within = { ...guarded(reading, 'made-conditional if an error'), scope: innerScope(reading.scope) };
    const param = nodeIn(handler, 'param');
    if (param) declarePattern(param, { scope: within.scope, label: '‹error›' });
    below(handler, 'body', within);
  }
  below(node, 'finalizer', reading);
}

function throwsAgain(handler: SyntaxNode): boolean {
  return bodyOf(handler).at(-1)?.type === 'ThrowStatement' && !leaves(handler);
}

function readForOf(node: SyntaxNode, from: Reading): void {
  const reading = still(from);
  const [left, right] = [nodeIn(node, 'left'), nodeIn(node, 'right')];
  if (!left || !right) return;
  read(right, reading);
  const declared = nodesIn(left, 'declarations')[0];
  const pattern = declared ? nodeIn(declared, 'id') : left;
  readEach({ list: right, pattern }, inLoop(node, reading), (each) => below(node, 'body', each));
}

/** Guards the body of a loop that may be left early, since it is not reached for every element. */
function inLoop(node: SyntaxNode, reading: Reading): Reading {
  const body = nodeIn(node, 'body');
  return body && leaves(body) ? guarded(reading, 'early-return within the loop') : reading;
}

/** Reads a loop or a switch, with the text of its head as a guard. */
function readLoop(node: SyntaxNode, reading: Reading): void {
  const inner = [nodeIn(node, 'body'), ...nodesIn(node, 'cases')];
  const head = childrenOf(node).filter((one) => !inner.includes(one));
  const at = { ...still(inLoop(node, reading)), scope: innerScope(reading.scope) };
  declareAll(head, at.scope);
  const text = head.map((one) => textOf(one, at)).join('; ');
  for (const one of childrenOf(node)) read(one, guarded(at, `made-conditional loop ${node.type} ${text}`));
}

function readDeclaration(node: SyntaxNode, from: Reading): void {
  const reading = still(from);
  const [id, init] = [nodeIn(node, 'id'), nodeIn(node, 'init')];
  if (!init || !id) return;
  read(init, reading);
  const actions = actionsIn(reading);
  visit(id, (one) => {
    const binding = one.type === 'Identifier' ? lookUp(String(one['name']), reading.scope) : null;
    if (binding?.kind === 'value') binding.takenAfter = actions;
    // This is the initial value of a variable that changes later.
    if (binding?.kind === 'opaque' && binding.label.startsWith('variable '))
      push(node, reading, { verb: binding.label, data: textOf(init, reading) });
  });
}

function readAssignment(node: SyntaxNode, from: Reading): void {
  const reading = still(from);
  below(node, 'right', reading);
  const target = nodeIn(node, 'left') ?? nodeIn(node, 'argument');
  const object = target?.type === 'MemberExpression' ? nodeIn(target, 'object') : null;
  const root = target && rootName(target);
  const name = root ? String(root['name']) : '';
  // Fields of page objects and exports of modules are followed to their values elsewhere.
  const isFollowed = object?.type === 'ThisExpression' || (object && /^(?:module|exports)$/.test(name));
  if (isFollowed && node['operator'] === '=') return;
  const binding = lookUp(name, reading.scope);
  const isOwn = binding?.kind === 'opaque' && binding.label.startsWith('variable ');
  const isPatch = !isOwn && (given.test(name) || object !== null);
  push(node, reading, {
    verb: 'assigns',
    data: textOf(node, reading),
    rule: isPatch ? 'patched' : 'step-added',
  });
}

function readNew(node: SyntaxNode, from: Reading): void {
  const reading = still(from);
  const callee = nodeIn(node, 'callee');
  const args = nodesIn(node, 'arguments');
  for (const one of args) read(one, reading);
  const own = callee && classOf(callee, reading.scope);
  if (own) {
    const constructor = readFields(own.node, false, { ...reading, scope: own.scope });
    const scope =
      constructor && callScope({ node: constructor, scope: own.scope }, { args, from: reading.scope });
    if (scope) readFunction(constructor, { ...reading, scope });
  } else if (!pureClass.test(textOf(callee, reading)))
    push(node, reading, { verb: 'new', data: textOf(node, reading) });
}

/** Reads what a class does when it is declared (`isStatic`) or instantiated, and returns its constructor. */
function readFields(node: SyntaxNode, isStatic: boolean, reading: Reading): SyntaxNode | null {
  let constructor: SyntaxNode | null = null;
  for (const one of bodyOf(node)) {
    if (one['kind'] === 'constructor') constructor = nodeIn(one, 'value');
    else if (one.type === 'StaticBlock' && isStatic) read(one, reading);
    else if (one.type === 'PropertyDefinition' && one['static'] === isStatic) below(one, 'value', reading);
  }
  return constructor;
}
