import type { ActionStep, AssertionStep, Step } from '../../core/guard/outline.js';
import { boundScope, elementsOf, parameterScope } from './bound-scope.js';
import { placeAt } from './place-at.js';
import { printCode } from './print-code.js';
import { actionOf, isRead, waitOf } from './read-action.js';
import { expectCall, readAssertion } from './read-assertion.js';
import { callScope } from './read-locator.js';
import { declareAll, innerScope, type Scope } from './scope.js';
import {
  bare,
  childrenOf,
  isFunction,
  nameOf,
  nodeIn,
  nodesIn,
  propertyOf,
  type SyntaxNode,
  visit,
} from './syntax.js';
import type { TestSources } from './test-sources.js';

/** Where the reading stands. */
export interface Reading {
  readonly sources: TestSources;
  readonly scope: Scope;
  readonly guards: readonly string[];
  readonly awaited: boolean;
  /** Functions that are being read: none is read inside itself. */
  readonly within: readonly SyntaxNode[];
  readonly steps: Step[];
  /** Functions that were reached, for whoever reads the rest. */
  readonly reached: Set<SyntaxNode>;
}

/** Whether what follows is reached: always, never, or only on a condition. */
type Flow = 'goes-on' | 'ended' | { readonly unless: string };

const MAX_CALLS = 12;

/** Reads what a function does, the tests' own helpers that it calls included, into `reading.steps`. */
export function readFunction(node: SyntaxNode, reading: Reading): void {
  if (reading.within.includes(node) || reading.within.length > MAX_CALLS) return;
  reading.reached.add(node);
  const body = nodeIn(node, 'body');
  if (!body) return;
  const scope = innerScope(reading.scope);
  const inside = { ...reading, scope, within: [...reading.within, node] };
  if (body.type === 'BlockStatement') readBlock(nodesIn(body, 'body'), inside);
  else readExpression(body, { ...inside, awaited: true });
}

function readBlock(statements: readonly SyntaxNode[], reading: Reading): Flow {
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
  const expression = (field: string, over: Partial<Reading> = {}) => {
    const child = nodeIn(node, field);
    if (child) readExpression(child, { ...reading, awaited: false, ...over });
  };
  switch (node.type) {
    case 'ExpressionStatement':
      expression('expression');
      return 'goes-on';
    case 'VariableDeclaration':
      for (const one of nodesIn(node, 'declarations')) {
        const init = nodeIn(one, 'init');
        if (init) readExpression(init, { ...reading, awaited: false });
      }
      return 'goes-on';
    case 'BlockStatement':
      return readBlock(nodesIn(node, 'body'), { ...reading, scope: innerScope(reading.scope) });
    case 'ReturnStatement':
      expression('argument', { awaited: true });
      return 'ended';
    case 'ThrowStatement':
      return 'ended';
    case 'BreakStatement':
    case 'ContinueStatement':
      return 'ended';
    case 'IfStatement':
      return readIf(node, reading);
    case 'TryStatement':
      return readTry(node, reading);
    case 'LabeledStatement':
      return part(node, 'body', reading);
    case 'ForOfStatement':
      readForOf(node, reading);
      return 'goes-on';
    case 'ForStatement':
    case 'ForInStatement':
    case 'WhileStatement':
    case 'DoWhileStatement':
      expression('test');
      part(node, 'body', guarded(reading, 'in a loop'));
      return 'goes-on';
    case 'SwitchStatement':
      for (const one of nodesIn(node, 'cases')) {
        readBlock(nodesIn(one, 'consequent'), {
          ...guarded(reading, 'in a switch'),
          scope: innerScope(reading.scope),
        });
      }
      return 'goes-on';
    default:
      return 'goes-on';
  }
}

function guarded(reading: Reading, guard: string): Reading {
  return { ...reading, guards: [...reading.guards, guard] };
}

function part(node: SyntaxNode, field: string, reading: Reading): Flow {
  const child = nodeIn(node, field);
  return child ? readStatement(child, { ...reading, scope: innerScope(reading.scope) }) : 'goes-on';
}

function readIf(node: SyntaxNode, reading: Reading): Flow {
  const test = nodeIn(node, 'test');
  if (!test) return 'goes-on';
  readExpression(test, { ...reading, awaited: false });
  const condition = printCode(test, reading.scope, reading.sources).text;
  if (condition === 'true') return part(node, 'consequent', reading);
  const then = part(node, 'consequent', guarded(reading, `if ${condition}`));
  const otherwise = part(node, 'alternate', guarded(reading, `if not ${condition}`));
  if (then === 'ended' && otherwise === 'ended') return 'ended';
  return then === 'goes-on' && otherwise === 'goes-on' ? 'goes-on' : { unless: condition };
}

/** A handler that throws again swallows nothing. */
function readTry(node: SyntaxNode, reading: Reading): Flow {
  const handler = nodeIn(node, 'handler');
  const finalizer = nodeIn(node, 'finalizer');
  // A `finally` that returns drops the error that it was called for.
  const swallows = (handler !== null && !throwsAgain(handler)) || (finalizer !== null && leaves(finalizer));
  const flow = part(node, 'block', swallows ? guarded(reading, 'errors are caught') : reading);
  if (handler) part(handler, 'body', guarded(reading, 'only after an error'));
  part(node, 'finalizer', reading);
  return swallows && flow === 'ended' ? 'goes-on' : flow;
}

function leaves(finalizer: SyntaxNode): boolean {
  if (isFunction(finalizer)) return false;
  return /^(?:Return|Break|Continue)Statement$/.test(finalizer.type) || childrenOf(finalizer).some(leaves);
}

function throwsAgain(handler: SyntaxNode): boolean {
  let found = false;
  visit(handler, (node) => {
    if (node.type === 'ThrowStatement') found = true;
  });
  return found;
}

function readForOf(node: SyntaxNode, reading: Reading): void {
  const [left, right] = [nodeIn(node, 'left'), nodeIn(node, 'right')];
  if (!left || !right) return;
  readExpression(right, { ...reading, awaited: false });
  const elements = elementsOf(right, reading);
  if (!elements) {
    part(node, 'body', guarded(reading, 'in a loop'));
    return;
  }
  const pattern =
    left.type === 'VariableDeclaration' ? nodeIn(nodesIn(left, 'declarations')[0] ?? left, 'id') : left;
  for (const { node: value, scope } of elements) {
    part(node, 'body', { ...reading, scope: boundScope(reading.scope, { pattern, value, scope }) });
  }
}

/** Reads an expression: the calls in it, in the order in which they are written. */
function readExpression(given: SyntaxNode, reading: Reading): void {
  const node = bare(given);
  switch (node.type) {
    case 'AwaitExpression':
      return below(node, 'argument', { ...reading, awaited: true });
    case 'CallExpression':
      return readCall(node, reading);
    case 'LogicalExpression':
      below(node, 'left', reading);
      return below(node, 'right', guarded(reading, 'only after a condition'));
    case 'ConditionalExpression':
      below(node, 'test', { ...reading, awaited: false });
      below(node, 'consequent', guarded(reading, 'only on a condition'));
      return below(node, 'alternate', guarded(reading, 'only on a condition'));
    case 'UnaryExpression':
      return below(node, 'argument', { ...reading, awaited: false });
    default:
      if (isFunction(node) || node.type.startsWith('Class')) return;
      for (const child of childrenOf(node)) readExpression(child, reading);
  }
}

function below(node: SyntaxNode, field: string, reading: Reading): void {
  const child = nodeIn(node, field);
  if (child) readExpression(child, reading);
}

function readCall(node: SyntaxNode, reading: Reading): void {
  const callee = nodeIn(node, 'callee');
  if (!callee) return;
  const asserted = expectCall(node);
  if (asserted) return readExpect(node, asserted, reading);
  const name = propertyOf(callee) ?? nameOf(callee) ?? '';
  const receiver = callee.type === 'MemberExpression' ? nodeIn(callee, 'object') : null;
  const args = nodesIn(node, 'arguments');
  if (receiver && /^(?:then|catch|finally)$/.test(name) && args.some(isHandler)) {
    return readChained({ name, receiver, args }, reading);
  }
  if (name === 'step' && args.length > 1) return callback(args[1], reading, node);
  if (receiver && nameOf(receiver) === 'Promise') return readPromises(name, args, reading);
  if (receiver && /^(?:forEach|map|flatMap)$/.test(name) && args[0] && isFunction(args[0])) {
    return readEach({ receiver, made: args[0], scope: reading.scope }, reading);
  }
  const own = reading.sources.functionOf(callee, reading.scope);
  if (own) return readOwn(node, own, reading);
  if (receiver) readExpression(receiver, { ...reading, awaited: false });
  readOther(node, name, reading);
}

function isHandler(node: SyntaxNode): boolean {
  return isFunction(node) || node.type === 'Identifier' || node.type === 'MemberExpression';
}

function readExpect(
  node: SyntaxNode,
  call: NonNullable<ReturnType<typeof expectCall>>,
  reading: Reading,
): void {
  const { subject, args } = call;
  if (call.matcher === 'toPass' && subject && isFunction(bare(subject))) {
    return callback(subject, guarded(reading, 'tried again until it passes'), node);
  }
  for (const one of [subject, ...args]) if (one) readExpression(one, { ...reading, awaited: false });
  const step: AssertionStep = {
    ...readAssertion(call, reading.scope, reading.sources),
    ...placed(node, reading),
  };
  reading.steps.push(step);
}

function placed(node: SyntaxNode, { guards, awaited, scope }: Reading) {
  const line = scope.file.lineAt(node.start);
  return { guards, awaited, ...placeAt(scope.file, line) };
}

function readChained(
  { name, receiver, args }: { name: string; receiver: SyntaxNode; args: readonly SyntaxNode[] },
  reading: Reading,
): void {
  const handler = name === 'catch' ? args[0] : name === 'then' ? args[1] : undefined;
  const swallows = handler !== undefined && !throwsAgain(handler);
  readExpression(receiver, swallows ? guarded(reading, 'errors are caught') : reading);
  const next = name === 'catch' ? undefined : args[0];
  if (next && isFunction(next)) callback(next, reading, receiver);
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

function readEach(
  { receiver, made, scope }: { receiver: SyntaxNode; made: SyntaxNode; scope: Scope },
  reading: Reading,
): void {
  const elements = elementsOf(receiver, reading);
  if (!elements) return callback(made, guarded(reading, 'in a loop'), receiver);
  for (const one of elements) {
    const within = callScope(
      { node: made, scope },
      { call: { type: 'CallExpression', arguments: [one.node], start: 0, end: 0 }, scope: one.scope },
    );
    readFunction(made, { ...reading, scope: within });
  }
}

function callback(made: SyntaxNode | undefined, reading: Reading, call: SyntaxNode): void {
  const found = made && reading.sources.resolve(made, reading.scope);
  if (!found || !isFunction(found.node)) return;
  const unawaited = found.node['async'] === true && !reading.awaited && call.type === 'CallExpression';
  const scope = parameterScope(found.node, found.scope);
  readFunction(found.node, { ...(unawaited ? guarded(reading, 'nobody waits for it') : reading), scope });
}

/** A helper of the tests: what it does is what the test does. */
function readOwn(node: SyntaxNode, own: { node: SyntaxNode; scope: Scope }, reading: Reading): void {
  for (const one of nodesIn(node, 'arguments'))
    if (!isFunction(one)) readExpression(one, { ...reading, awaited: false });
  const scope = callScope(own, { call: node, scope: reading.scope });
  const unawaited = own.node['async'] === true && !reading.awaited;
  readFunction(own.node, { ...(unawaited ? guarded(reading, 'nobody waits for it') : reading), scope });
}

function readOther(node: SyntaxNode, name: string, reading: Reading): void {
  const args = nodesIn(node, 'arguments');
  for (const one of args) {
    if (!isFunction(one))
      readExpression(one, { ...reading, awaited: reading.awaited && one.type === 'ArrayExpression' });
    else if (
      !/^(?:evaluate|evaluateAll|evaluateHandle|\$eval|\$\$eval|addInitScript|waitForFunction|route)$/.test(
        name,
      )
    ) {
      callback(one, guarded(reading, `inside ${name}`), one);
    }
  }
  if (isRead(name)) return;
  const waited = waitOf(node, reading);
  if (waited) reading.steps.push({ ...waited, ...placed(node, reading) });
  else {
    const action = actionOf(node, reading);
    if (action) reading.steps.push({ ...action, ...placed(node, reading) } satisfies ActionStep);
  }
}
