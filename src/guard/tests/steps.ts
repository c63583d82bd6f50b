import { lookUp, declareAll, declarePattern, innerScope, parameterScope } from '../code/scope.js';
import {
  bare,
  childrenOf,
  isFunction,
  nameOf,
  nodeIn,
  nodesIn,
  placeOf,
  propertyOf,
  type SyntaxNode,
  visit,
} from '../code/syntax.js';
import type { Located } from '../code/sources.js';
import { rootName } from '../code/test-object.js';
import { actionOf, isConsole, waitOf } from './action.js';
import { expectCall, type ExpectCall, readAssertion } from './assertion.js';
import { given, pureClass, scripts } from './calls.js';
import {
  actionsIn,
  context,
  guarded,
  isTests,
  labelOf,
  leaves,
  push,
  type Reading,
  textOf,
  throwsAgain,
} from './reading.js';

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

/** One reading for each element of a list that is written out, or one for all of one that is not. */
export function eachOf<Where extends Reading>(
  list: SyntaxNode,
  pattern: SyntaxNode | null,
  reading: Where,
): Where[] {
  const found = reading.sources.resolve(list, reading.scope);
  const elements = found.node.type === 'ArrayExpression' ? nodesIn(found.node, 'elements') : null;
  const bind = (init: SyntaxNode | null, at: Where): Where => {
    const scope = innerScope(at.scope);
    if (pattern) declarePattern(pattern, { scope, label: '‹each›', init, from: found.scope });
    return { ...at, scope };
  };
  if (elements && !elements.some((one) => one.type === 'SpreadElement'))
    return elements.map((one) => bind(one, reading));
  return [bind(null, guarded(reading, `for each of ${textOf(list, reading)}`))];
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

/** Reads an expression: what it does, in the order in which it is written. */
function readExpression(given: SyntaxNode, reading: Reading): void {
  const node = bare(given);
  const still = { ...reading, awaited: false };
  switch (node.type) {
    case 'AwaitExpression':
      return below(node, 'argument', { ...reading, awaited: true });
    case 'CallExpression':
      return readCall(node, reading);
    case 'NewExpression':
      return readNew(node, still);
    case 'LogicalExpression':
      below(node, 'left', still);
      return below(
        node,
        'right',
        guarded(reading, `after ${textOf(nodeIn(node, 'left'), reading)} ${String(node['operator'])}`),
      );
    case 'ConditionalExpression': {
      below(node, 'test', still);
      const condition = textOf(nodeIn(node, 'test'), reading);
      below(node, 'consequent', guarded(reading, `if ${condition}`));
      return below(node, 'alternate', guarded(reading, `if not ${condition}`));
    }
    case 'AssignmentExpression':
    case 'UpdateExpression':
      return readAssignment(node, still);
    case 'UnaryExpression':
      below(node, 'argument', still);
      if (node['operator'] === 'delete')
        push(node, reading, { verb: 'delete', data: textOf(node, reading), rule: 'patched' });
      return;
    case 'ImportExpression':
    case 'TaggedTemplateExpression':
      return push(node, reading, { verb: node.type, data: textOf(node, reading) });
    default:
      if (isFunction(node) || node.type.startsWith('Class')) return;
      for (const child of childrenOf(node)) readExpression(child, reading);
  }
}

function below(node: SyntaxNode, field: string, reading: Reading): void {
  const child = nodeIn(node, field);
  if (child) readExpression(child, reading);
}

function readAssignment(node: SyntaxNode, reading: Reading): void {
  const [target, value] = [nodeIn(node, 'left') ?? nodeIn(node, 'argument'), nodeIn(node, 'right')];
  const isMaybe = /^(?:\?\?|\|\||&&)=$/.test(String(node['operator']));
  if (value)
    readExpression(
      value,
      isMaybe ? guarded(reading, `after ${textOf(target, reading)} ${String(node['operator'])}`) : reading,
    );
  if (!target) return;
  const isField = target.type === 'MemberExpression';
  const object = isField ? nodeIn(target, 'object') : null;
  // A field of a page object is followed to its value.
  if (object?.type === 'ThisExpression' && node['operator'] === '=') return;
  const root = rootName(target);
  const name = root ? String(root['name']) : '';
  const isExport = isField && /^(?:module|exports)$/.test(name);
  if (isExport) return;
  const isPatch = given.test(name) || (isField && !/^(?:variable )/.test(labelOf(name, reading)));
  push(node, reading, {
    verb: 'assigns',
    data: textOf(node, reading),
    rule: isPatch ? 'patched' : 'step-added',
  });
}

function readNew(node: SyntaxNode, reading: Reading): void {
  const callee = nodeIn(node, 'callee');
  if (!callee) return;
  const args = nodesIn(node, 'arguments');
  for (const one of args) if (!isFunction(one)) readExpression(one, reading);
  const own = reading.sources.classOf(callee, reading.scope);
  if (own) return readConstructor(own, args, reading);
  if (pureClass.test(textOf(callee, reading))) return;
  push(node, reading, { verb: 'new', data: textOf(node, reading) });
}

function readConstructor({ node, scope }: Located, args: readonly SyntaxNode[], reading: Reading): void {
  const body = nodeIn(node, 'body');
  for (const member of body ? nodesIn(body, 'body') : []) {
    const value = nodeIn(member, 'value');
    if (!value || member['static'] === true) continue;
    if (member['kind'] === 'constructor') {
      const within = reading.sources.calledScope({ node: value, scope }, { args, from: reading.scope });
      readFunction(value, { ...reading, scope: within });
    } else if (member.type === 'PropertyDefinition') readExpression(value, { ...reading, scope });
  }
}

function readCall(node: SyntaxNode, reading: Reading): void {
  const callee = nodeIn(node, 'callee');
  if (!callee) return;
  const asserted = expectCall(node, reading.scope, reading.sources);
  if (asserted) return readExpect(node, asserted, reading);
  const name = propertyOf(callee) ?? nameOf(callee) ?? '';
  const receiver = callee.type === 'MemberExpression' ? nodeIn(callee, 'object') : null;
  const args = nodesIn(node, 'arguments');
  if (receiver && /^(?:then|catch|finally)$/.test(name))
    return readChained({ name, receiver, args }, reading);
  if (receiver && name === 'step' && args.length > 1 && isTests(receiver, reading))
    return readTestStep(node, args, reading);
  if (receiver && nameOf(receiver) === 'Promise') return readPromises(name, args, reading);
  const [first] = args;
  if (receiver && /^(?:forEach|map|flatMap)$/.test(name) && first && isFunction(first)) {
    readExpression(receiver, { ...reading, awaited: false });
    const [pattern = null] = nodesIn(first, 'params');
    for (const each of eachOf(receiver, pattern, reading))
      callback(first, { ...each, awaited: reading.awaited && name !== 'forEach' }, true);
    return;
  }
  const own = reading.sources.functionOf(callee, reading.scope);
  if (own && reading.within.includes(own.node))
    return push(node, reading, {
      verb: 'calls itself',
      data: args.map((one) => textOf(one, reading)).join(', '),
    });
  if (own) return readOwn(own, args, reading);
  readOther(node, { name, receiver, args }, reading);
}

function readTestStep(node: SyntaxNode, args: readonly SyntaxNode[], reading: Reading): void {
  const [, made, options] = args;
  if (options)
    push(node, reading, {
      kind: 'restriction',
      verb: 'step',
      data: textOf(options, reading),
      rule: 'timeout-raised',
    });
  if (made) callback(made, reading);
}

function readExpect(node: SyntaxNode, call: ExpectCall, reading: Reading): void {
  const { subject, args } = call;
  if (call.matcher === 'toPass' && subject && isFunction(bare(subject))) {
    return callback(subject, guarded(reading, 'tried again until it passes'));
  }
  for (const one of [subject, ...args]) {
    if (one && isFunction(bare(one))) callback(one, guarded(reading, 'inside expect'));
    else if (one) readExpression(one, { ...reading, awaited: false });
  }
  const { guards, awaited, scope } = reading;
  const asserted = readAssertion(call, scope, context(reading));
  reading.steps.push({ ...asserted, guards, awaited, ...placeOf(scope.file, node) });
}

function readChained(
  { name, receiver, args }: { name: string; receiver: SyntaxNode; args: readonly SyntaxNode[] },
  reading: Reading,
): void {
  const handler = name === 'catch' ? args[0] : name === 'then' ? args[1] : undefined;
  const found = handler && reading.sources.resolve(handler, reading.scope);
  const swallows = found !== undefined && !throwsAgain(found.node);
  readExpression(receiver, swallows ? guarded(reading, 'errors are caught') : reading);
  if (handler && isFunction(bare(handler))) callback(handler, guarded(reading, 'only after an error'));
  const next = name === 'catch' ? undefined : args[0];
  if (next) callback(next, guarded(reading, `after ${textOf(receiver, reading)}`));
}

function readPromises(name: string, args: readonly SyntaxNode[], reading: Reading): void {
  const guards: Record<string, string> = {
    allSettled: 'errors are caught',
    race: 'the first one wins',
    any: 'the first one wins',
  };
  const guard = guards[name];
  for (const one of args) readExpression(one, guard ? guarded(reading, guard) : reading);
}

/** A function that is called at once, or by what it was given to. */
function callback(made: SyntaxNode, reading: Reading, isBound = false): void {
  const found = reading.sources.resolve(made, reading.scope);
  if (!isFunction(found.node)) return readExpression(made, { ...reading, awaited: false });
  const scope = isBound
    ? reading.scope
    : parameterScope(found.node, found.scope, `${reading.guards.length}.`);
  readFunction(found.node, { ...unlessAwaited(found.node, reading), scope });
}

function unlessAwaited(made: SyntaxNode, reading: Reading): Reading {
  return made['async'] === true && !reading.awaited ? guarded(reading, 'nobody waits for it') : reading;
}

/** A helper of the tests: what it does is what the test does. */
function readOwn(own: Located, args: readonly SyntaxNode[], reading: Reading): void {
  for (const one of args) if (!isFunction(one)) readExpression(one, { ...reading, awaited: false });
  nodesIn(own.node, 'params').forEach((param, index) => {
    const value =
      args[index] === undefined && param.type === 'AssignmentPattern' ? nodeIn(param, 'right') : null;
    if (value) readExpression(value, { ...reading, scope: own.scope, awaited: false });
  });
  if (own.node['generator'] === true)
    return push(own.node, reading, {
      verb: 'generator',
      data: textOf(own.node, { ...reading, scope: own.scope }),
    });
  const scope = reading.sources.calledScope(own, { args, from: reading.scope });
  readFunction(own.node, { ...unlessAwaited(own.node, reading), scope });
}

function readOther(
  node: SyntaxNode,
  { name, receiver, args }: { name: string; receiver: SyntaxNode | null; args: readonly SyntaxNode[] },
  reading: Reading,
): void {
  if (receiver) readExpression(receiver, { ...reading, awaited: false });
  for (const one of args) {
    if (!isFunction(one))
      readExpression(one, { ...reading, awaited: reading.awaited && one.type === 'ArrayExpression' });
    else if (!scripts.test(name)) callback(one, guarded(reading, `inside ${name}`));
  }
  if (isConsole(receiver)) return;
  const { guards, awaited, scope } = reading;
  const at = {
    scope,
    awaited,
    isTests: receiver !== null && isTests(receiver, reading),
    ...context(reading),
  };
  const step = waitOf(node, at) ?? actionOf(node, at);
  if (step) reading.steps.push({ ...step, guards, awaited, ...placeOf(scope.file, node) });
}
