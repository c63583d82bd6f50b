import { bare, calleeOf, constantOf, isFunction, nameOf, propertyOf } from '../../code/expressions.js';
import { childrenOf, nodeIn, nodesIn, nodesOf, type SyntaxNode } from '../../code/syntax.js';
import type { Uses } from './uses.js';
import { answers, chain, isMadeUp, valueOf } from './values.js';

/** Whether an object has a hard-coded string, and so poses as a real result. One that tells what went wrong does not. */
function isFilledIn(given: SyntaxNode): boolean {
  const parts = nodesIn(bare(given), 'properties');
  const isTold = parts.some((one) =>
    /^(?:errors?|message|reason|ok|success)$/.test(nameOf(nodeIn(one, 'key')) ?? ''),
  );
  return !isTold && parts.some((one) => typeof constantOf(nodeIn(one, 'value') ?? one) === 'string');
}

const ofErrors =
  /^(?:error|unhandled[rR]ejection|uncaughtException|on(?:error|warn|unhandledrejection)|(?:error|warn)Handler|warn)$/;

/** Returns the error handler that a node sets up, and the nodes whose errors it handles, which are unknown for listeners. Null if there is none. */
function handlerOf(node: SyntaxNode): { made: SyntaxNode; tried: readonly SyntaxNode[] } | null {
  const caught = nodeIn(node, 'handler');
  if (caught) return { made: caught, tried: nodesOf(nodeIn(node, 'block')) };
  const called = propertyOf(calleeOf(node)) ?? '';
  const args = nodesIn(node, 'arguments');
  const target = nodeIn(node, 'left') ?? nodeIn(node, 'key');
  const isSet = ofErrors.test(propertyOf(target) ?? nameOf(target) ?? '');
  const made = isSet ? (nodeIn(node, 'right') ?? nodeIn(node, 'value')) : args.find(isFunction);
  const isListener = /^(?:addEventListener|on|once)$/.test(called) && ofErrors.test(nameOf(args[0]) ?? '');
  const isServers = called === 'use' && nodesIn(made, 'params').length === 4;
  if (!made || !isFunction(made)) return null;
  if (!isSet && !isListener && !isServers && !/^(?:catch|setErrorHandler|onError)$/.test(called)) return null;
  return { made, tried: nodesOf(called === 'catch' ? nodeIn(calleeOf(node), 'object') : null) };
}

/** Calls whose failure need not be reported: parsing a text, or using browser storage that may be blocked. */
const local = /^(?:JSON|URL|localStorage|sessionStorage|document|window|navigator|decodeURI\w*|atob)\b/;
/** Calls that do not count as reporting an error. */
const quiet =
  /(?:^|\.)(?:console|log|logger)\.|\.(?:preventDefault|stopImmediatePropagation)$|(?:^|\.)(?:setTimeout|sleep|delay|wait)$/;
const logs = /(?:^|\.)(?:console|log|logger)\.(?:error|warn)$/;
/** Whether a node drops errors: it does not report them, or it reports success. For a call that nothing awaits, logging the error is enough. */
export function isSilent(node: SyntaxNode, uses: Uses, isDiscarded = false): boolean {
  const isRetried = node.type === 'TryStatement' && uses.retried.has(node);
  const { made, tried = [] } = (isRetried ? null : handlerOf(node)) ?? {};
  const body = nodeIn(made, 'body');
  const before = tried.flatMap((one) => chain(one) || []);
  if (!made || !body || (tried.length > 0 && before.every((one) => local.test(one)))) return false;
  const param = nodeIn(made, 'param') ?? nodesIn(made, 'params')[0];
  const isSame = (one: SyntaxNode) =>
    before.includes(chain(one)) && nodesIn(one, 'arguments').every(isMadeUp);
  const isCaught = propertyOf(calleeOf(node)) === 'catch';
  const tells = (one: SyntaxNode): boolean => {
    if (isCaught && uses.floating.has(node) && logs.test(chain(one)))
      return nodesOf(one).some((part) => mentions(part, param));
    if (quiet.test(chain(one))) return false;
    const value = one === body && body.type !== 'BlockStatement' ? body : valueOf(one);
    const does = chain(one) !== '' && !answers.test(chain(one)) && !isSame(one);
    const isDone =
      does ||
      one.type === 'AssignmentExpression' ||
      (value !== null &&
        chain(value) === '' &&
        !isMadeUp(value) &&
        !isFilledIn(value) &&
        !uses.data.has(nameOf(bare(value)) ?? '') &&
        !isDiscarded);
    return isDone || isFailure(one) || mentions(one, param) || childrenOf(one).some(tells);
  };
  return !tells(body);
}

/** Whether a node answers every request without looking at it: `app.use((request, response) => response.json({}))`. */
export function isCatchAll(node: SyntaxNode): boolean {
  const args = nodesIn(node, 'arguments');
  const made = args.at(-1);
  const [request, , next] = nodesIn(made, 'params');
  if (!made || !isFunction(made) || next) return false;
  const called = propertyOf(calleeOf(node)) ?? '';
  if (!/^(?:use|all|get|post)$/.test(called)) return false;
  // `use` with a path handles everything below that path.
  const isAnywhere = called === 'use' || args.length === 1 || /^[/(.]*\*/.test(nameOf(args[0]) ?? '');
  const done = nodesOf(made);
  const isTold = done.some((one) => isFailure(one) || mentions(one, request));
  return isAnywhere && !isTold && done.some((one) => answers.test(chain(one)));
}

/** Whether a node reports a failure: a `throw`, a status of 400 or more, `next(error)`. */
export function isFailure(node: SyntaxNode): boolean {
  const value = node.type === 'Literal' ? Number(node['value']) : 0;
  const fails = /(?:^|\.)(?:reject|next|fail|abort|error)$/.test(chain(node)) && !quiet.test(chain(node));
  return node.type === 'ThrowStatement' || (value >= 400 && value < 600) || fails;
}

function mentions(node: SyntaxNode, param: SyntaxNode | undefined): boolean {
  return param !== undefined && node !== param && nameOf(node) === nameOf(param);
}
