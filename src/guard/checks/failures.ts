import type { Violation } from '../../core/guard/violation.js';
import {
  bodyOf,
  calleeOf,
  isFunction,
  nameOf,
  nodeIn,
  nodesIn,
  nodesOf,
  placeOf,
  propertyOf,
  type SourceFile,
  type SyntaxNode,
} from '../../code/syntax.js';
import { type Rule, violationOf } from '../rules.js';

type State = 'fails' | 'passes' | 'asks' | 'knows' | 'calls';

/** What may not become of a condition, or of a function: what fails in the app has to be told, and what it answers has to be asked for. */
const lost: Readonly<Record<string, Rule>> = {
  'fails passes': 'errors-silenced',
  'asks knows': 'app-stubbed',
};

/** Conditions that failed and let pass now, and functions that waited for something and make up their answer now. */
export function lostFailures(old: SourceFile, now: SourceFile): Violation[] {
  const was = statesIn(old);
  return [...statesIn(now)].flatMap(([detail, { state, node }]) => {
    const rule = lost[`${was.get(detail)?.state} ${state}`];
    const { file, line, source: after } = placeOf(now, node);
    return rule ? [violationOf(rule, { file, line, after, detail })] : [];
  });
}

/** Conditions by their texts, functions by their names. */
function statesIn({ program, text }: SourceFile): Map<string, { state: State; node: SyntaxNode }> {
  const found = new Map<string, { state: State; node: SyntaxNode }>();
  for (const node of nodesOf(program)) {
    const test = node.type === 'IfStatement' ? nodeIn(node, 'test') : null;
    const made = [node, nodeIn(node, 'init'), nodeIn(node, 'value')].find((one) => one && isFunction(one));
    const name = nameOf(nodeIn(node, 'id') ?? nodeIn(node, 'key'));
    if (test) {
      const key = text.slice(test.start, test.end).replaceAll(/\s+/g, ' ');
      const fails = found.get(key)?.state === 'fails' || nodesOf(nodeIn(node, 'consequent')).some(isFailure);
      found.set(key, { state: fails ? 'fails' : 'passes', node });
    } else if (made && name !== null) found.set(name, { state: stateOf(made), node });
  }
  return found;
}

function stateOf(made: SyntaxNode): State {
  if (nodesOf(made).some(isWait)) return 'asks';
  const calls = nodesOf(made).some(({ type }) =>
    /^(?:Call|New|Import|TaggedTemplate)Expression$|^JSX/.test(type),
  );
  return !calls && nodesOf(made).some(({ type }) => type === 'Literal') ? 'knows' : 'calls';
}

/** Whether a node drops the error of something that is waited for by an empty handler, or of a request: nobody learns of it. */
export function isSilent(node: SyntaxNode): boolean {
  const handler = nodeIn(node, 'handler');
  if (handler) return nodesOf(nodeIn(node, 'block')).some(isWait) && bodyOf(handler).length === 0;
  const made = nodesIn(node, 'arguments').find(isFunction);
  const name = propertyOf(calleeOf(node));
  if (!made || name === null) return false;
  const params = nodesIn(made, 'params');
  const isServers = name === 'setErrorHandler' || (name === 'use' && params.length === 4);
  return isServers && !nodesOf(made).some((one) => isFailure(one) || mentions(one, params[0]));
}

/** `app.use((request, response) => response.json({}))`: whatever is asked is answered without a look at it. */
export function isCatchAll(node: SyntaxNode): boolean {
  const args = nodesIn(node, 'arguments');
  const made = args.at(-1);
  const [request, , next] = nodesIn(made, 'params');
  if (!made || !isFunction(made) || next) return false;
  if (!/^(?:use|all|get|post)$/.test(propertyOf(calleeOf(node)) ?? '')) return false;
  const isAnywhere = args.length === 1 || /^[/(.]*\*/.test(nameOf(args[0]) ?? '');
  const answers = (one: SyntaxNode) => /^(?:json|send|end|text|html)$/.test(propertyOf(calleeOf(one)) ?? '');
  return (
    isAnywhere &&
    nodesOf(made).some(answers) &&
    !nodesOf(made).some((one) => isFailure(one) || mentions(one, request))
  );
}

function isFailure(node: SyntaxNode): boolean {
  const value = node.type === 'Literal' ? Number(node['value']) : 0;
  const called = propertyOf(calleeOf(node)) ?? nameOf(calleeOf(node)) ?? '';
  const isStatus = value >= 400 && value < 600;
  return node.type === 'ThrowStatement' || isStatus || /^(?:reject|next|fail|abort|error)$/.test(called);
}

const isWait = (node: SyntaxNode) => node.type === 'AwaitExpression';

function mentions(node: SyntaxNode, param: SyntaxNode | undefined): boolean {
  return param !== undefined && node !== param && nameOf(node) === nameOf(param);
}
