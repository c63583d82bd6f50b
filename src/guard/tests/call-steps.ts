import { parameterScope } from '../code/scope.js';
import type { Located } from '../code/sources.js';
import {
  bare,
  isFunction,
  nameOf,
  nodeIn,
  nodesIn,
  placeOf,
  propertyOf,
  type SyntaxNode,
} from '../code/syntax.js';
import { actionOf, isConsole, waitOf } from './action.js';
import { expectCall, readAssertion, type ExpectCall } from './assertion.js';
import { scripts } from './calls.js';
import { context, eachOf, guarded, isTests, push, textOf, throwsAgain, type Reading } from './reading.js';

/** Reads a call: an assertion, a helper of the tests, or something else that is done. */
export function readCall(node: SyntaxNode, reading: Reading): void {
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
  reading.readers.readFunction(found.node, { ...unlessAwaited(found.node, reading), scope });
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
  reading.readers.readFunction(own.node, { ...unlessAwaited(own.node, reading), scope });
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

function readExpression(node: SyntaxNode, reading: Reading): void {
  reading.readers.readExpression(node, reading);
}
