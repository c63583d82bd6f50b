import type { Violation } from '../../core/guard/violation.js';
import {
  bare,
  bodyOf,
  calleeOf,
  childrenOf,
  constantOf,
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
import { chainOf, rootName } from '../../code/test-object.js';
import { type Rule, violationOf } from '../rules.js';

type State = 'awaited' | 'floating' | 'dropped' | 'asks' | 'knows' | 'depends' | 'stub' | 'other';
type IsExpected = (value: unknown) => boolean;

/** What may not become of a call, or of a value: what fails in the app has to be told, and what it answers has to be asked for. */
const lost: Readonly<Record<string, Rule>> = {
  'awaited floating': 'errors-silenced',
  'awaited dropped': 'errors-silenced',
  'asks knows': 'app-stubbed',
  'depends stub': 'app-stubbed',
};

/**
 * Calls that were waited for and whose failures nobody learns of now, functions that waited for something and make up their answer now,
 * and values that were reckoned and are written out now: as what the tests expect, or as a whole record.
 */
export function lostFailures(
  olds: readonly SourceFile[],
  news: readonly SourceFile[],
  isExpected: IsExpected,
): Violation[] {
  const was = new Map(olds.flatMap((file) => [...statesIn(file, isExpected)]));
  return news.flatMap((now) =>
    [...statesIn(now, isExpected)].flatMap(([detail, { state, node }]) => {
      const rule = lost[`${was.get(detail)?.state} ${state}`];
      const { file, line, source: after } = placeOf(now, node);
      return rule ? [violationOf(rule, { file, line, after, detail })] : [];
    }),
  );
}

/** Calls by what they are called on, what functions return and assign by their names. */
function statesIn({ program, text }: SourceFile, isExpected: IsExpected) {
  const found = new Map<string, { state: State; node: SyntaxNode }>();
  const textOf = (node: SyntaxNode) => text.slice(node.start, node.end).replaceAll(/\s+/g, ' ');
  const uses = usesIn({ program });
  for (const [node, use] of uses.calls) {
    const caught = propertyOf(calleeOf(node)) === 'catch' ? nodeIn(calleeOf(node), 'object') : null;
    const isDropped = use === 'discarded' && isSilent(node, uses, true);
    if (caught && (use === 'floating' || isDropped))
      found.set(`await ${chain(caught)}`, { state: isDropped ? 'dropped' : 'floating', node });
  }
  for (const node of nodesOf(program)) {
    const awaited = node.type === 'AwaitExpression' ? nodeIn(node, 'argument') : null;
    if (awaited) found.set(`await ${chain(awaited)}`, { state: 'awaited', node });
    const made = [node, nodeIn(node, 'init'), nodeIn(node, 'value')].find((one) => one && isFunction(one));
    const name = nameOf(nodeIn(node, 'id') ?? nodeIn(node, 'key'));
    const [place, handler] = nodesIn(node, 'arguments');
    if (handler && isFunction(handler))
      found.set(`${chain(node)} ${nameOf(place)}`, { state: stateOf(handler), node });
    if (!made || name === null) continue;
    found.set(name, { state: stateOf(made), node });
    for (const [key, values] of valuesIn(made, textOf))
      found.set(`${name} ${key}`, { state: stateOfValues(values, isExpected), node });
  }
  return found;
}

/** What a function returns, and what it assigns to each target. */
function valuesIn(made: SyntaxNode, textOf: (node: SyntaxNode) => string): Map<string, SyntaxNode[]> {
  const body = nodeIn(made, 'body');
  const values = new Map(body && body.type !== 'BlockStatement' ? [['', [body]]] : []);
  for (const node of nodesOf(body)) {
    const target = node.type === 'AssignmentExpression' ? nodeIn(node, 'left') : null;
    const value = target ? nodeIn(node, 'right') : valueOf(node);
    const key = target ? textOf(target) : '';
    if (value) values.set(key, [...(values.get(key) ?? []), value]);
  }
  return values;
}

const valueOf = (node: SyntaxNode) => (node.type === 'ReturnStatement' ? nodeIn(node, 'argument') : null);

function stateOf(made: SyntaxNode): State {
  const nodes = nodesOf(made);
  if (nodes.some(({ type }) => type === 'AwaitExpression')) return 'asks';
  const asks = (one: SyntaxNode) =>
    /^(?:Call|New|Import|TaggedTemplate)Expression$|^JSX/.test(one.type) && !isMadeUpAnswer(one);
  return !nodes.some(asks) && nodes.some(({ type }) => type.endsWith('Literal')) ? 'knows' : 'other';
}

const isMadeUpAnswer = (node: SyntaxNode) =>
  answers.test(chain(node)) && nodesIn(node, 'arguments').every(isMadeUp);

function stateOfValues(values: readonly SyntaxNode[], isExpected: IsExpected): State {
  const isStub = (one: SyntaxNode) => constantOf(one) === undefined || isExpected(constantOf(one));
  return !values.every(isMadeUp) ? 'depends' : values.some(isStub) ? 'stub' : 'other';
}

/** A value that is written out; `null`, `false` and what is empty say that there is none. */
function isMadeUp(given: SyntaxNode): boolean {
  return isWritten(given) && (nodesOf(bare(given)).length > 1 || Boolean(constantOf(given)));
}

/** A record with a part that is written out stands for a real one, unless it tells what went wrong. */
function isFilledIn(given: SyntaxNode): boolean {
  const parts = nodesIn(bare(given), 'properties');
  const isTold = parts.some((one) =>
    /^(?:errors?|message|reason|ok|success)$/.test(nameOf(nodeIn(one, 'key')) ?? ''),
  );
  return !isTold && parts.some((one) => typeof constantOf(nodeIn(one, 'value') ?? one) === 'string');
}

function isWritten(given: SyntaxNode): boolean {
  const node = bare(given);
  const values = nodesIn(node, 'properties').map((one) => nodeIn(one, 'value') ?? one);
  const isList = /^(?:Array|Object)Expression$/.test(node.type);
  return isList ? [...nodesIn(node, 'elements'), ...values].every(isWritten) : constantOf(node) !== undefined;
}

const ofErrors =
  /^(?:error|unhandled[rR]ejection|uncaughtException|on(?:error|warn|unhandledrejection)|(?:error|warn)Handler|warn)$/;

/** What a node sets up to be done about errors, and what is tried before; nothing is known of what a listener stands for. */
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

/** What fails for no reason that somebody has to learn: reading a text, a store of the browser that may be closed. */
const local = /^(?:JSON|URL|localStorage|sessionStorage|document|window|navigator|decodeURI\w*|atob)\b/;
/** Calls that tell nobody of an error. */
const quiet =
  /(?:^|\.)(?:console|log|logger)\.|\.(?:preventDefault|stopImmediatePropagation)$|(?:^|\.)(?:setTimeout|sleep|delay|wait)$/;
const logs = /(?:^|\.)(?:console|log|logger)\.(?:error|warn)$/;
/** Calls that answer a request, or say how. */
const answers = /\.(?:json|send|end|text|html|code|status|render)$/;

/** What becomes of the value of a call: nobody looks at it, or it is not even waited for; what is caught is tried again, and thrown in the end. */
export type Use = 'discarded' | 'floating' | 'retried' | 'used';

/** What has to be known of a program to judge a node of it. */
export interface Uses {
  /** Calls that are statements, and errors caught in a loop, by what becomes of them. */
  readonly calls: ReadonlyMap<SyntaxNode, Use>;
  /** Names of data from files. */
  readonly data: ReadonlySet<string>;
  /** Names of what is read from the environment. */
  readonly switches: ReadonlySet<string>;
}

/** Reads what becomes of the calls of a program, and what some of its names stand for. */
export function usesIn({ program }: Pick<SourceFile, 'program'>): Uses {
  const uses = new Map<SyntaxNode, Use>();
  const [data, switches] = [new Set<string>(), new Set<string>()];
  for (const node of nodesOf(program)) {
    const called = node.type === 'ExpressionStatement' ? nodeIn(node, 'expression') : null;
    const awaited = called?.type === 'AwaitExpression' ? nodeIn(called, 'argument') : null;
    if (nameOf(nodeIn(node, 'source'))?.endsWith('.json'))
      for (const one of nodesIn(node, 'specifiers')) data.add(nameOf(nodeIn(one, 'local')) ?? '');
    if (nodesOf(nodeIn(node, 'init')).some(isEnvironment)) switches.add(nameOf(nodeIn(node, 'id')) ?? '');
    if (called) uses.set(awaited ?? called, awaited ? 'discarded' : 'floating');
    const body = nodesIn(node, 'body');
    const thrown = body.findLastIndex(({ type }) => type === 'ThrowStatement');
    const loops = body
      .slice(0, Math.max(thrown, 0))
      .filter(({ type }) => /^(?:For|While|DoWhile)/.test(type));
    for (const one of loops.flatMap(nodesOf)) if (one.type === 'TryStatement') uses.set(one, 'retried');
  }
  return { calls: uses, data, switches };
}

const isEnvironment = (node: SyntaxNode) => propertyOf(node) === 'env';

/** On a word of the environment, a request is let through, or answered by what is written there. */
export function isBypass(node: SyntaxNode, { switches }: Uses): boolean {
  const asked = node.type === 'IfStatement' ? nodesOf(nodeIn(node, 'test')) : [];
  const isSwitched = asked.some(
    (one) => isEnvironment(one) || (one.type === 'Identifier' && switches.has(nameOf(one) ?? '')),
  );
  return (
    isSwitched &&
    nodesOf(nodeIn(node, 'consequent')).some((one) => {
      const value = valueOf(one);
      const isAnswer = value !== null && isMadeUp(value) && (constantOf(value) ?? true) === true;
      return isAnswer || (chain(one) === 'next' && nodesIn(one, 'arguments').length === 0);
    })
  );
}

/** A function that stands still for a time that is written there, in whatever it does. */
export function isPause(node: SyntaxNode): boolean {
  return (
    isFunction(node) &&
    bodyOf(node)
      .flatMap((one) => [one, ...nodesIn(nodeIn(one, 'block'), 'body')])
      .some((one) => {
        const awaited = nodeIn(nodeIn(one, 'expression'), 'argument');
        const isAwait = nodeIn(one, 'expression')?.type === 'AwaitExpression';
        return (
          isAwait &&
          nodesOf(awaited).some(
            (part) =>
              pauses.test(chain(part)) &&
              nodesIn(part, 'arguments').some((time) => Number(constantOf(time)) >= 50),
          )
        );
      })
  );
}

const pauses = /(?:^|\.)(?:setTimeout|sleep|delay|wait|pause)$/;

/** Whether a node drops errors: nobody learns of them, or is told that all went well. Where nothing waits for a call, a log tells all there is to tell. */
export function isSilent(node: SyntaxNode, { calls, data }: Uses, isDiscarded = false): boolean {
  const use = calls.get(node) ?? 'used';
  const { made, tried = [] } = (use === 'retried' ? null : handlerOf(node)) ?? {};
  const body = nodeIn(made, 'body');
  const before = tried.flatMap((one) => chain(one) || []);
  if (!made || !body || (tried.length > 0 && before.every((one) => local.test(one)))) return false;
  const param = nodeIn(made, 'param') ?? nodesIn(made, 'params')[0];
  const isSame = (one: SyntaxNode) =>
    before.includes(chain(one)) && nodesIn(one, 'arguments').every(isMadeUp);
  const isCaught = propertyOf(calleeOf(node)) === 'catch';
  const tells = (one: SyntaxNode): boolean => {
    if (isCaught && use === 'floating' && logs.test(chain(one)))
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
        !data.has(nameOf(bare(value)) ?? '') &&
        !isDiscarded);
    return isDone || isFailure(one) || mentions(one, param) || childrenOf(one).some(tells);
  };
  return !tells(body);
}

/** The names of what is called, joined by dots; empty for what is no call. */
function chain(node: SyntaxNode): string {
  const callee = calleeOf(node);
  return callee ? [nameOf(rootName(callee)), ...chainOf(callee)].join('.') : '';
}

/** `app.use((request, response) => response.json({}))`: whatever is asked is answered without a look at it. */
export function isCatchAll(node: SyntaxNode): boolean {
  const args = nodesIn(node, 'arguments');
  const made = args.at(-1);
  const [request, , next] = nodesIn(made, 'params');
  if (!made || !isFunction(made) || next) return false;
  const called = propertyOf(calleeOf(node)) ?? '';
  if (!/^(?:use|all|get|post)$/.test(called)) return false;
  // What is used at a path answers for everything below it.
  const isAnywhere = called === 'use' || args.length === 1 || /^[/(.]*\*/.test(nameOf(args[0]) ?? '');
  const done = nodesOf(made);
  const isTold = done.some((one) => isFailure(one) || mentions(one, request));
  return isAnywhere && !isTold && done.some((one) => answers.test(chain(one)));
}

function isFailure(node: SyntaxNode): boolean {
  const value = node.type === 'Literal' ? Number(node['value']) : 0;
  const fails = /(?:^|\.)(?:reject|next|fail|abort|error)$/.test(chain(node)) && !quiet.test(chain(node));
  return node.type === 'ThrowStatement' || (value >= 400 && value < 600) || fails;
}

function mentions(node: SyntaxNode, param: SyntaxNode | undefined): boolean {
  return param !== undefined && node !== param && nameOf(node) === nameOf(param);
}
