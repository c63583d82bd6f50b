import { bare, isFunction, nameOf, propertyOf } from '../../code/expressions.js';
import { callScope, parameterScope } from '../../code/scope.js';
import { functionOf } from '../../code/sources.js';
import { nodeIn, nodesIn, type SyntaxNode } from '../../code/syntax.js';
import { isOfTest } from '../../code/test-object.js';
import { stepOf } from './action.js';
import { expectCall, optionsIn, readAssertion, timeoutIn, type ExpectCall } from './assertion.js';
import { callKind, ofScripts } from './calls.js';
import { readDefinition, readFixtures } from './definitions.js';
import { readEach, guarded, push, readFunction, type Reading, spotOf, still, textOf } from './reading.js';

/** Reads a call: an assertion, a test, a helper of the tests, or any other action. */
export function readCall(node: SyntaxNode, reading: Reading): void {
  const callee = nodeIn(node, 'callee');
  if (!callee) return;
  const asserted = expectCall(node, reading.scope);
  if (asserted) return readExpect(node, asserted, reading);
  if (isOfTest(callee, reading.scope) && readDefinition(node, callee, reading)) return;
  const name = propertyOf(callee) ?? nameOf(callee) ?? '';
  if (name === 'extend') readFixtures(node, callee, reading);
  const receiver = callee.type === 'MemberExpression' ? nodeIn(callee, 'object') : null;
  const args = nodesIn(node, 'arguments');
  const [first] = args;
  if (receiver && /^(?:forEach|map|flatMap)$/.test(name) && first && isFunction(first)) {
    reading.read(receiver, still(reading));
    const [pattern = null] = nodesIn(first, 'params');
    return readEach({ list: receiver, pattern }, reading, (each) =>
      readFunction(first, { ...each, awaited: reading.awaited && name !== 'forEach' }),
    );
  }
  const own = functionOf(callee, reading.scope);
  if (own) {
    for (const one of args) reading.read(one, still(reading));
    return readFunction(own.node, { ...reading, scope: callScope(own, { args, from: reading.scope }) });
  }
  readOther(node, { name, receiver, args }, reading);
}

function readExpect(node: SyntaxNode, call: ExpectCall, reading: Reading): void {
  const parts = [call.subject ?? [], ...call.args].flat().map(bare);
  const [subject] = parts;
  if (call.matcher === 'toPass' && subject && isFunction(subject)) {
    const timeoutMs = timeoutIn(optionsIn(call.args[0], spotOf(reading)) ?? []);
    const limit = { kind: 'limit', verb: 'toPass', data: '', rule: 'timeout-raised', timeoutMs } as const;
    if (timeoutMs !== null) push(node, reading, limit);
    return callback(subject, guarded(reading, 'assertion-polled'));
  }
  for (const one of parts) {
    if (isFunction(one)) callback(one, guarded(reading, 'made-conditional inside expect'));
    else reading.read(one, still(reading));
  }
  push(node, reading, readAssertion(call, spotOf(reading)));
}

/** Reads a callback, which is called by the function that receives it. */
function callback(made: SyntaxNode, reading: Reading): void {
  const scope = parameterScope(made, reading.scope, `${reading.guards.length}.`);
  readFunction(made, { ...reading, scope });
}

interface Parts {
  readonly name: string;
  readonly receiver: SyntaxNode | null;
  readonly args: readonly SyntaxNode[];
}

/** Methods of `Promise` that do not need every promise to be fulfilled, with the guard that they put on each. */
const joins: Readonly<Record<string, string>> = {
  allSettled: 'error-swallowed',
  race: 'made-conditional by the first one',
  any: 'made-conditional by the first one',
};

function readOther(node: SyntaxNode, { name, receiver, args }: Parts, reading: Reading): void {
  const isChained = receiver !== null && /^(?:then|catch|finally)$/.test(name);
  const isStep = name === 'step' && isOfTest(receiver, reading.scope);
  const swallows = isChained && (name === 'catch' || args.length > 1);
  const before = swallows
    ? guarded(reading, 'error-swallowed')
    : { ...reading, awaited: reading.awaited && isChained };
  if (receiver) reading.read(receiver, before);
  const ofPromise = nameOf(receiver) === 'Promise' ? (joins[name] ?? '') : null;
  const isScript = ofScripts.test(callKind(name)?.rule ?? '');
  const inside = ofPromise ? guarded(reading, ofPromise) : reading;
  for (const one of args) {
    const isJoined = reading.awaited && (ofPromise !== null || one.type === 'ArrayExpression');
    if (!isFunction(one)) reading.read(one, { ...inside, awaited: isJoined });
    else if (!isScript) callback(one, isStep ? reading : guarded(reading, `made-conditional inside ${name}`));
  }
  // Console output has no effect.
  if (isChained || ofPromise !== null || nameOf(receiver) === 'console') return;
  const [, , options] = args;
  const told = { kind: 'restriction', rule: 'timeout-raised', verb: 'step' } as const;
  if (isStep) return options && push(node, reading, { ...told, data: textOf(options, reading) });
  const step = stepOf(node, spotOf(reading));
  if (step) push(node, reading, step);
}
