import { lookUp, declareAll, declarePattern, innerScope } from '../code/scope.js';
import { isFunction, nodeIn, nodesIn, visit, type SyntaxNode } from '../code/syntax.js';
import {
  actionsIn,
  guarded,
  leaves,
  push,
  textOf,
  throwsAgain,
  type Reading,
  eachOf,
  type Readers,
} from './reading.js';
import { below, readExpression } from './expressions.js';

/** Whether what follows is reached: always, never, or only on a condition. */
type Flow = 'goes-on' | 'ended' | { readonly unless: string };

const MAX_CALLS = 20;

/** Reads what a function does, the tests' own helpers that it calls included, into `reading.steps`. */
export function readFunction(node: SyntaxNode, reading: Reading): void {
  if (reading.within.includes(node) || reading.within.length > MAX_CALLS)
    return push(node, reading, { verb: 'calls itself', data: textOf(node, reading) });
  reading.reached.add(node);
  const body = nodeIn(node, 'body');
  if (!body) return;
  const inside = { ...reading, scope: innerScope(reading.scope), within: [...reading.within, node] };
  if (body.type === 'BlockStatement') readStatements(nodesIn(body, 'body'), inside);
  else readExpression(body, { ...inside, awaited: true });
}

/** Reads statements in their order. */
export function readStatements(statements: readonly SyntaxNode[], reading: Reading): Flow {
  declareAll(statements, reading.scope);
  let at = reading;
  let flow: Flow = 'goes-on';
  for (const statement of statements) {
    const seen = readStatement(statement, at);
    if (seen === 'ended') return flow === 'goes-on' ? 'ended' : flow;
    if (seen === 'goes-on') continue;
    at = { ...at, guards: [...at.guards, `unless ${seen.unless}`] };
    flow = seen;
  }
  return flow;
}

function readStatement(node: SyntaxNode, reading: Reading): Flow {
  const still = { ...reading, awaited: false };
  switch (node.type) {
    case 'VariableDeclaration':
      for (const one of nodesIn(node, 'declarations')) readDeclaration(one, still);
      return 'goes-on';
    case 'BlockStatement':
      return readStatements(nodesIn(node, 'body'), { ...reading, scope: innerScope(reading.scope) });
    case 'ReturnStatement':
      below(node, 'argument', { ...reading, awaited: true });
      return 'ended';
    case 'IfStatement':
      return readIf(node, reading);
    case 'TryStatement':
      return readTry(node, reading);
    case 'ForOfStatement':
      readForOf(node, reading);
      return 'goes-on';
    case 'ForStatement':
    case 'ForInStatement':
    case 'WhileStatement':
    case 'DoWhileStatement':
      readLoop(node, still);
      return 'goes-on';
    case 'SwitchStatement':
      readSwitch(node, reading);
      return 'goes-on';
    case 'ClassDeclaration':
      readStatic(node, reading);
      return 'goes-on';
    case 'ImportDeclaration':
      if (nodesIn(node, 'specifiers').length === 0)
        push(node, reading, { verb: 'import', data: textOf(node, reading) });
      return 'goes-on';
    case 'ExportNamedDeclaration':
    case 'ExportDefaultDeclaration': {
      const declared = nodeIn(node, 'declaration');
      return declared ? readStatement(declared, reading) : 'goes-on';
    }
    default:
      if (node.type === 'LabeledStatement') return part(node, 'body', reading);
      if (node.type === 'ThrowStatement') push(node, reading, { kind: 'check', verb: 'throw', data: '' });
      if (/^(?:Throw|Break|Continue)Statement$/.test(node.type)) return 'ended';
      if (!node.type.startsWith('TS') && !isFunction(node))
        readExpression(nodeIn(node, 'expression') ?? node, still);
      return 'goes-on';
  }
}

function readDeclaration(node: SyntaxNode, reading: Reading): void {
  const [id, init] = [nodeIn(node, 'id'), nodeIn(node, 'init')];
  if (!init || !id) return;
  readExpression(init, reading);
  const actions = actionsIn(reading);
  visit(id, (one) => {
    const binding = one.type === 'Identifier' ? lookUp(String(one['name']), reading.scope) : null;
    if (binding?.kind === 'value') binding.takenAfter = actions;
    // What changes later begins here.
    if (binding?.kind === 'opaque' && binding.label.startsWith('variable '))
      push(node, reading, { verb: binding.label, data: textOf(init, reading) });
  });
}

function part(node: SyntaxNode, field: string, reading: Reading): Flow {
  const child = nodeIn(node, field);
  return child ? readStatement(child, { ...reading, scope: innerScope(reading.scope) }) : 'goes-on';
}

function readIf(node: SyntaxNode, reading: Reading): Flow {
  const test = nodeIn(node, 'test');
  if (!test) return 'goes-on';
  readExpression(test, { ...reading, awaited: false });
  const condition = textOf(test, reading);
  if (condition === 'true') return part(node, 'consequent', reading);
  const then = part(node, 'consequent', guarded(reading, `if ${condition}`));
  const otherwise = part(node, 'alternate', guarded(reading, `if not ${condition}`));
  if (then === 'ended' && otherwise === 'ended') return 'ended';
  return then === 'goes-on' && otherwise === 'goes-on' ? 'goes-on' : { unless: condition };
}

/** A handler that throws again swallows nothing. */
function readTry(node: SyntaxNode, reading: Reading): Flow {
  const [handler, finalizer] = [nodeIn(node, 'handler'), nodeIn(node, 'finalizer')];
  // A `finally` that returns drops the error that it was called for.
  const swallows = (handler !== null && !throwsAgain(handler)) || (finalizer !== null && leaves(finalizer));
  const flow = part(node, 'block', swallows ? guarded(reading, 'errors are caught') : reading);
  if (handler) {
    const within = { ...guarded(reading, 'only after an error'), scope: innerScope(reading.scope) };
    const param = nodeIn(handler, 'param');
    if (param) declarePattern(param, { scope: within.scope, label: '‹error›' });
    part(handler, 'body', within);
  }
  part(node, 'finalizer', reading);
  return swallows && flow === 'ended' ? 'goes-on' : flow;
}

function readForOf(node: SyntaxNode, reading: Reading): void {
  const [left, right] = [nodeIn(node, 'left'), nodeIn(node, 'right')];
  if (!left || !right) return;
  readExpression(right, { ...reading, awaited: false });
  const pattern =
    left.type === 'VariableDeclaration' ? nodeIn(nodesIn(left, 'declarations')[0] ?? left, 'id') : left;
  for (const each of eachOf(right, pattern, reading)) part(node, 'body', each);
}

function readLoop(node: SyntaxNode, reading: Reading): void {
  const parts = ['init', 'left', 'right', 'test', 'update'].map((name) => nodeIn(node, name));
  const text = `${node.type} ${parts.map((one) => textOf(one, reading)).join('; ')}`;
  const inside = { ...guarded(reading, `loop ${text}`), scope: innerScope(reading.scope) };
  const [init, left, , ...each] = parts;
  const declared = init ?? left;
  if (declared?.type === 'VariableDeclaration') declareAll([declared], inside.scope);
  for (const one of each) if (one && one.type !== 'UpdateExpression') readExpression(one, inside);
  part(node, 'body', inside);
}

function readSwitch(node: SyntaxNode, reading: Reading): void {
  const of = textOf(nodeIn(node, 'discriminant'), reading);
  below(node, 'discriminant', { ...reading, awaited: false });
  for (const one of nodesIn(node, 'cases')) {
    const inside = guarded(reading, `case ${textOf(nodeIn(one, 'test'), reading)} of ${of}`);
    readStatements(nodesIn(one, 'consequent'), { ...inside, scope: innerScope(reading.scope) });
  }
}

/** What a class does when it is declared. */
function readStatic(node: SyntaxNode, reading: Reading): void {
  const body = nodeIn(node, 'body');
  for (const one of body ? nodesIn(body, 'body') : []) {
    const value = nodeIn(one, 'value');
    if (one.type === 'StaticBlock')
      readStatements(nodesIn(one, 'body'), { ...reading, scope: innerScope(reading.scope) });
    else if (one['static'] === true && value) readExpression(value, { ...reading, awaited: false });
  }
}

/** All parts of the reader. */
export const readers: Readers = { readFunction, readExpression };
