import { print } from '../code/locators.js';
import type { SourceFile } from '../code/source-file.js';
import {
  calleeOf,
  constantOf,
  isFunction,
  nameOf,
  nodeIn,
  nodesIn,
  nodesOf,
  propertyOf,
  type SyntaxNode,
  unwrap,
} from '../code/syntax.js';
import type { Found } from './programs.js';

/** Calls and fields by which an exception is rethrown, reported or shown. */
const telling =
  /err|fail|warn|log|report|capture|notif|toast|alert|message|reject|abort|exit|next|rethrow|invalid|problem/i;

/** A handler, and what it handles the exceptions of, if that is written beside it. */
type Handling = readonly [handler: SyntaxNode | null, tried: SyntaxNode | null];

/** Finds the handlers after which nobody knows that there was an exception. */
export function swallowedIn(source: SourceFile): Found[] {
  const nodes = nodesOf(source.program);
  const named = new Map(
    nodes.flatMap((node) => {
      const value = node.type === 'FunctionDeclaration' ? node : nodeIn(node, 'init');
      const name = nameOf(nodeIn(node, 'id'));
      return value && isFunction(value) && name !== null ? [[name, value] as const] : [];
    }),
  );
  const handlerOf = (given: SyntaxNode | undefined): SyntaxNode | null => {
    const node = given && unwrap(given);
    if (!node) return null;
    if (node.type === 'Identifier')
      return named.get(String(node['name'])) ?? (/noop/i.test(String(node['name'])) ? node : null);
    return isFunction(node) ? node : null;
  };
  const handlers = nodes.flatMap((node): Handling[] => {
    if (node.type === 'TryStatement') return [[nodeIn(node, 'handler'), nodeIn(node, 'block')]];
    if (
      node.type === 'AssignmentExpression' &&
      /^on(?:error|unhandledrejection)$/.test(propertyOf(nodeIn(node, 'left')) ?? '')
    )
      return [[handlerOf(nodeIn(node, 'right') ?? undefined), null]];
    const method = propertyOf(calleeOf(node)) ?? nameOf(calleeOf(node));
    const args = nodesIn(node, 'arguments');
    const tried = nodeIn(calleeOf(node), 'object');
    if (method === 'catch') return [[handlerOf(args[0]), tried]];
    if (method === 'then') return [[handlerOf(args[1]), tried]];
    const event = args[0] && constantOf(args[0]);
    const isOfErrors = /^(?:uncaughtException|unhandledRejection|unhandledrejection|error)$/.test(
      String(event),
    );
    return isOfErrors && /^(?:on|once|addEventListener)$/.test(method ?? '')
      ? [[handlerOf(args[1]), null]]
      : [];
  });
  return handlers.flatMap(([node, tried]) =>
    node && !isTold(node) && !triesAgain(node, tried) ? [{ node, source, text: print(node) }] : [],
  );
}

/** Whether a handler awaits or returns what has failed once more: that call's exception is not handled. */
function triesAgain(handler: SyntaxNode, tried: SyntaxNode | null): boolean {
  const body = nodeIn(handler, 'body');
  const ends = nodesOf(body).filter(({ type }) => type === 'AwaitExpression' || type === 'ReturnStatement');
  const again = [body, ...ends.map((one) => nodeIn(one, 'argument'))].map((one) => one && print(one));
  return nodesOf(tried).some((one) => calleeOf(one) !== null && again.includes(print(one)));
}

function isTold(handler: SyntaxNode): boolean {
  const param = nodeIn(handler, 'param') ?? nodesIn(handler, 'params')[0] ?? null;
  const caught = new Set(nodesOf(param).flatMap((one) => nameOf(one) ?? []));
  const body = nodesOf(nodeIn(handler, 'body'));
  const isOfReport = (node: SyntaxNode) => {
    const { type } = node;
    if (type === 'ThrowStatement' || type.startsWith('JSXText')) return true;
    if (type === 'Identifier') return caught.has(String(node['name']));
    const callee = /^(?:Call|New)Expression$/.test(type) ? nodeIn(node, 'callee') : null;
    const target =
      type === 'AssignmentExpression'
        ? nodeIn(node, 'left')
        : type === 'Property'
          ? nodeIn(node, 'key')
          : callee;
    const object = nodeIn(target, 'object');
    const names = [propertyOf(target), nameOf(target), nameOf(object), propertyOf(object)];
    const isFault = nodesIn(node, 'arguments').some((one) => Number(constantOf(one)) >= 500);
    return target !== null && (isFault || names.some((name) => telling.test(name ?? '')));
  };
  return body.some(isOfReport);
}
