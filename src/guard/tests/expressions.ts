import type { Located } from '../code/sources.js';
import { bare, childrenOf, isFunction, nodeIn, nodesIn, type SyntaxNode } from '../code/syntax.js';
import { rootName } from '../code/test-object.js';
import { given, pureClass } from './calls.js';
import { guarded, labelOf, push, textOf, type Reading } from './reading.js';
import { readCall } from './call-steps.js';

/** Reads an expression: what it does, in the order in which it is written. */
export function readExpression(given: SyntaxNode, reading: Reading): void {
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

/** Reads the expression in a field, if there is one. */
export function below(node: SyntaxNode, field: string, reading: Reading): void {
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
      reading.readers.readFunction(value, { ...reading, scope: within });
    } else if (member.type === 'PropertyDefinition') readExpression(value, { ...reading, scope });
  }
}
