import { print } from '../code/locators.js';
import { linesOf, type SourceFile } from '../code/source-file.js';
import {
  calleeOf,
  childrenOf,
  constantOf,
  identifierName,
  isFunction,
  lastName,
  nodeIn,
  nodesIn,
  nodesOf,
  propertyOf,
  type SyntaxNode,
  unwrap,
} from '../code/syntax.js';
import type { Location } from './decision.js';
import type { AppFile } from './programs.js';

/**
 * Returns the places of a file where a failure is not shown: it is swallowed or only logged, passed over by `?.`, or hidden by a style or an attribute.
 * The elements of failures are those that are named for it, and those that the tests look for by these names.
 */
export function hiddenFailuresIn(
  { path: file, programs, text }: AppFile,
  located: readonly string[],
): Location[] {
  const inCode = programs.flatMap((source) => {
    const hiding = [...silentHandlersIn(source), ...passedOverIn(source.program)];
    return hiding.map((node) => source.lineAt(node.start));
  });
  const lineAt = linesOf(text);
  const hidingText = [...text.matchAll(hidingStyle), ...text.matchAll(hidingTag)].filter(
    ([, what = '']) => failing.test(what) || located.some((name) => what.includes(name)),
  );
  const inText = [...hidingText, ...text.matchAll(silentHandler)].map(({ index, 0: match }) =>
    lineAt(index + match.search(/\S/)),
  );
  const lines = text.split('\n');
  return [...inCode, ...inText].map((line) => ({ file, line, source: lines[line - 1]?.trim() ?? '' }));
}

/** A style that hides an element in whatever state it is. */
const hidingStyle = /^([^{}:]*)\{[^}]*(?:display:\s*none|visibility:\s*hidden|opacity:\s*0\s*[;}])/gim;
/** An element with an attribute that hides it. */
const hidingTag =
  /<\w+([^<>]*\s(?:hidden(?!=)|aria-hidden=["{]*true|style=["{]+[^<>]*(?:display:\s*['"]?none|visibility:\s*['"]?hidden))[^<>]*)>/gi;
const failing = /err(?:or)?s?\b|alert|warn|problem|invalid|fail/i;
/** A handler that does nothing, in other languages. */
const silentHandler =
  /\bexcept\b[^\n]*:\s*(?:pass|return\b|continue)|\brescue\b[^\n]*\n\s*(?:nil|end|true|false)\b/g;

/** Calls and fields by which an exception is rethrown, reported or shown. A log is read by nobody who uses the app. */
const telling =
  /err|fail|report|capture|notif|toast|alert|message|reject|abort|exit|next|rethrow|invalid|problem/i;
const logging = /^(?:console|log(?:ger)?)$/i;

/** A handler, and what it handles the exceptions of, if that is written beside it. */
type Handling = readonly [handler: SyntaxNode | null | undefined, tried: SyntaxNode | null];

function silentHandlersIn({ program }: SourceFile): SyntaxNode[] {
  const nodes = nodesOf(program);
  const named = new Map(
    nodes.flatMap((node) => {
      const value = node.type === 'FunctionDeclaration' ? node : nodeIn(node, 'init');
      const name = identifierName(nodeIn(node, 'id'));
      return value && isFunction(value) && name !== null ? [[name, value] as const] : [];
    }),
  );
  const handlings = nodes.flatMap((node): Handling[] => {
    if (node.type === 'TryStatement') return [[nodeIn(node, 'handler'), nodeIn(node, 'block')]];
    if (/^on(?:error|unhandledrejection)$/.test(propertyOf(nodeIn(node, 'left')) ?? ''))
      return [[nodeIn(node, 'right'), null]];
    const key = identifierName(nodeIn(node, 'key') ?? nodeIn(node, 'name')) ?? '';
    if (/^on\w*(?:Err|Fail|Reject)/.test(key))
      return [[nodeIn(nodeIn(node, 'value'), 'expression') ?? nodeIn(node, 'value'), null]];
    const method = lastName(calleeOf(node));
    const [first, second] = nodesIn(node, 'arguments');
    const tried = nodeIn(calleeOf(node), 'object');
    if (method === 'catch') return [[first, tried]];
    if (method === 'then') return [[second, tried]];
    const isOfErrors = /^(?:uncaughtException|unhandledRejection|error)$/i.test(
      String(first && constantOf(first)),
    );
    return isOfErrors && /^(?:on|once|addEventListener)$/.test(method) ? [[second, null]] : [];
  });
  return handlings.flatMap(([written, tried]) => {
    const handler = written && (named.get(identifierName(written) ?? '') ?? unwrap(written));
    return handler && isSilent(handler) && !isTriedAgain(tried, nodes) ? [handler] : [];
  });
}

/** Whether the whole call that is tried also stands outside of the `try`, where its failure is not handled. */
function isTriedAgain(tried: SyntaxNode | null, nodes: readonly SyntaxNode[]): boolean {
  const within = new Set(nodesOf(tried));
  return outermostCalls(tried).some((call) => {
    const text = print(call);
    return nodes.some((node) => calleeOf(node) && !within.has(node) && print(node) === text);
  });
}

function outermostCalls(node: SyntaxNode | null): SyntaxNode[] {
  if (!node || calleeOf(node)) return node ? [node] : [];
  return childrenOf(node).flatMap(outermostCalls);
}

function isSilent(handler: SyntaxNode): boolean {
  if (identifierName(nodeIn(handler, 'object')) !== null)
    return logging.test(identifierName(nodeIn(handler, 'object')) ?? '');
  if (handler.type === 'Identifier') return /noop/i.test(identifierName(handler) ?? '');
  if (handler.type !== 'CatchClause' && !isFunction(handler)) return false;
  const param = nodeIn(handler, 'param') ?? nodesIn(handler, 'params')[0] ?? null;
  const caught = new Set(nodesOf(param).flatMap((node) => identifierName(node) ?? []));
  const logs = nodesOf(nodeIn(handler, 'body')).filter((node) =>
    logging.test(identifierName(nodeIn(calleeOf(node), 'object')) ?? ''),
  );
  const logged = new Set(logs.flatMap((node) => nodesOf(node)));
  const isTelling = (node: SyntaxNode) => {
    if (node.type === 'ThrowStatement' || node.type === 'JSXText') return true;
    if (node.type === 'Identifier') return caught.has(identifierName(node) ?? '');
    const target = nodeIn(node, 'callee') ?? nodeIn(node, 'left') ?? nodeIn(node, 'key');
    const object = nodeIn(target, 'object');
    const names = [propertyOf(target), identifierName(target), identifierName(object), propertyOf(object)];
    const isFault = nodesIn(node, 'arguments').some((arg) => Number(constantOf(arg)) >= 500);
    return isFault || names.some((name) => telling.test(name ?? ''));
  };
  return !nodesOf(nodeIn(handler, 'body')).some((node) => !logged.has(node) && isTelling(node));
}

/** Returns where `?.` passes over what is missing, and nothing says what holds instead: no `??`, `||` or condition. */
function passedOverIn(program: SyntaxNode): SyntaxNode[] {
  const passed: SyntaxNode[] = [];
  const read = (node: SyntaxNode, isAnswered: boolean): void => {
    // What calls a function that may be missing says so: a callback is optional.
    if (node.type === 'MemberExpression' && node['optional'] === true && !isAnswered) passed.push(node);
    const isAnswering = /^(?:Logical|Binary|Unary)Expression$/.test(node.type);
    for (const child of childrenOf(node))
      read(child, isAnswering || child === nodeIn(node, 'test') || (isAnswered && !isFunction(node)));
  };
  read(program, false);
  return passed;
}
