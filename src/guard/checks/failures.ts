import type { Violation } from '../../core/guard/violation.js';
import {
  bare,
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

type State = 'fails' | 'passes' | 'asks' | 'knows' | 'depends' | 'expected' | 'calls';

/** What may not become of a condition, a function or a value: what fails in the app has to be told, and what it answers has to be asked for. */
const lost: Readonly<Record<string, Rule>> = {
  'fails passes': 'errors-silenced',
  'asks knows': 'app-stubbed',
  'depends expected': 'app-stubbed',
};

/**
 * Conditions that failed and let pass now, functions that waited for something and make up their answer now, and values that hung on
 * what a function was given and are now what the tests expect.
 */
export function lostFailures(
  olds: readonly SourceFile[],
  news: readonly SourceFile[],
  isExpected: (value: string | number) => boolean,
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

/** Conditions by their texts, functions and what they return and assign by their names. */
function statesIn({ program, text }: SourceFile, isExpected: (value: string | number) => boolean) {
  const found = new Map<string, { state: State; node: SyntaxNode }>();
  const textOf = (node: SyntaxNode) => text.slice(node.start, node.end).replaceAll(/\s+/g, ' ');
  for (const node of nodesOf(program)) {
    const test = node.type === 'IfStatement' ? nodeIn(node, 'test') : null;
    const made = [node, nodeIn(node, 'init'), nodeIn(node, 'value')].find((one) => one && isFunction(one));
    const name = nameOf(nodeIn(node, 'id') ?? nodeIn(node, 'key'));
    if (test) {
      const fails =
        found.get(textOf(test))?.state === 'fails' || nodesOf(nodeIn(node, 'consequent')).some(isFailure);
      found.set(textOf(test), { state: fails ? 'fails' : 'passes', node });
    } else if (made && name !== null) {
      found.set(name, { state: stateOf(made), node });
      const locals = localsOf(made);
      for (const [key, values] of valuesIn(made, textOf)) {
        const constants = values.flatMap((one) => constantOf(one) ?? []);
        const isKnown =
          constants.length === values.length && constants.some((one) => isTelling(one, isExpected));
        const depends = values.flatMap(nodesOf).some((one) => isWait(one) || locals.has(nameOf(one) ?? ''));
        const state = isKnown ? 'expected' : depends ? 'depends' : 'calls';
        found.set(`${key} of ${name}`, { state, node: values[0] ?? node });
      }
    }
  }
  return found;
}

function isTelling(value: string | number | boolean, isExpected: (value: string | number) => boolean) {
  return typeof value !== 'boolean' && String(value).length > 1 && isExpected(value);
}

/** The names of a function's parameters and variables. */
function localsOf(made: SyntaxNode): ReadonlySet<string> {
  const declared = nodesOf(made).flatMap((node) => nodeIn(node, 'id') ?? []);
  const names = [...nodesIn(made, 'params'), ...declared].flatMap(nodesOf).map(nameOf);
  return new Set(names.flatMap((one) => one ?? []));
}

/** What a function returns, and what it assigns to each target. */
function valuesIn(made: SyntaxNode, textOf: (node: SyntaxNode) => string): Map<string, SyntaxNode[]> {
  const values = new Map<string, SyntaxNode[]>();
  const add = (key: string, value: SyntaxNode | null) =>
    value && values.set(key, [...(values.get(key) ?? []), value]);
  const body = nodeIn(made, 'body');
  if (body?.type !== 'BlockStatement') add('value', body);
  for (const node of nodesOf(body)) {
    const target = node.type === 'AssignmentExpression' ? nodeIn(node, 'left') : null;
    if (target) add(textOf(target), nodeIn(node, 'right'));
    if (node.type === 'ReturnStatement') add('value', nodeIn(node, 'argument'));
  }
  return values;
}

function stateOf(made: SyntaxNode): State {
  if (nodesOf(made).some(isWait)) return 'asks';
  const calls = nodesOf(made).some(({ type }) =>
    /^(?:Call|New|Import|TaggedTemplate)Expression$|^JSX/.test(type),
  );
  return !calls && nodesOf(made).some(({ type }) => type === 'Literal') ? 'knows' : 'calls';
}

/** What is done about an error, and what was tried; nothing is known of what a listener stands for. */
interface Handler {
  readonly made: SyntaxNode;
  readonly param: SyntaxNode | undefined;
  readonly tried: readonly SyntaxNode[];
  /** It answers a request: the status has to tell. */
  readonly isServers: boolean;
}

const ofErrors =
  /^(?:error|unhandled[rR]ejection|uncaughtException|on(?:error|warn|unhandledrejection)|(?:error|warn)(?:Handler)?)$/;

/** The handler of errors that a node sets up, if it does. */
function handlerOf(node: SyntaxNode): Handler | null {
  const caught = nodeIn(node, 'handler');
  const tried = nodesOf(nodeIn(node, 'block'));
  if (caught) return { made: caught, param: nodeIn(caught, 'param') ?? undefined, tried, isServers: false };
  const called = propertyOf(calleeOf(node)) ?? '';
  const args = nodesIn(node, 'arguments');
  const target = nodeIn(node, 'left') ?? nodeIn(node, 'key');
  const isListener = /^(?:addEventListener|on|once)$/.test(called) && ofErrors.test(nameOf(args[0]) ?? '');
  const isSet = ofErrors.test(propertyOf(target) ?? nameOf(target) ?? '');
  const made = isSet ? (nodeIn(node, 'right') ?? nodeIn(node, 'value')) : args.find(isFunction);
  if (!made || !isFunction(made)) return null;
  const params = nodesIn(made, 'params');
  const isServers = called === 'setErrorHandler' || (called === 'use' && params.length === 4);
  if (!isSet && !isListener && !isServers && called !== 'catch') return null;
  const before = called === 'catch' ? nodesOf(nodeIn(calleeOf(node), 'object')) : [];
  return { made, param: params[0], tried: before, isServers };
}

/** What cannot fail for a reason that somebody has to learn: reading a text, a store of the browser that may be closed. */
const local = /^(?:JSON|URL|localStorage|sessionStorage|document|window|navigator|decodeURI\w*|atob)$/;

/** Whether a node drops errors: nobody learns of them, or is told that all went well. */
export function isSilent(node: SyntaxNode): boolean {
  const handler = handlerOf(node);
  if (!handler) return false;
  const { made, param, tried, isServers } = handler;
  const calls = tried.filter(({ type }) => type === 'CallExpression');
  if (tried.length > 0 && calls.every((one) => local.test(nameOf(rootName(one)) ?? ''))) return false;
  const done = nodesOf(nodeIn(made, 'body'));
  if (
    done.some((one) => /^(?:preventDefault|stopImmediatePropagation)$/.test(propertyOf(calleeOf(one)) ?? ''))
  )
    return true;
  const isTold = (one: SyntaxNode): boolean =>
    !isLog(one) && (mentions(one, param) || childrenOf(one).some(isTold));
  const body = nodeIn(made, 'body');
  if (done.some(isFailure) || (body && isTold(body))) return false;
  const isEmpty = body?.type === 'BlockStatement' && nodesIn(body, 'body').length === 0;
  return isServers || isEmpty || pretends(handler, done);
}

/** It gives back a value of its own making, a good status, or does with it what is done where all goes well. */
function pretends({ made, tried }: Handler, done: readonly SyntaxNode[]): boolean {
  const body = nodeIn(made, 'body');
  const given = body?.type === 'BlockStatement' ? null : body;
  const usual = new Set(tried.map((one) => chain(one)).filter((one) => one !== ''));
  return [given, ...done].some((one) => {
    const value = one === given ? given : one?.type === 'ReturnStatement' ? nodeIn(one, 'argument') : null;
    const status = one?.type === 'Literal' ? Number(one['value']) : 0;
    const args = nodesIn(one, 'arguments');
    const isSame = one && usual.has(chain(one)) && args.length > 0 && args.every(isMadeUp);
    return (value && isMadeUp(value)) || (status >= 200 && status < 300) || isSame;
  });
}

function chain(node: SyntaxNode): string {
  const callee = calleeOf(node);
  return callee ? [nameOf(rootName(callee)), ...chainOf(callee)].join('.') : '';
}

/** A value that is written out; `null`, `undefined` and `false` say that there is none. */
function isMadeUp(given: SyntaxNode): boolean {
  const node = bare(given);
  if (/^(?:Array|Object)Expression$/.test(node.type))
    return nodesOf(node).every(({ type }) =>
      /^(?:Array|Object)Expression$|^(?:Property|Identifier|Literal)$/.test(type),
    );
  const value = constantOf(node);
  return value !== undefined && value !== null && value !== false;
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
  const fails = /^(?:reject|next|fail|abort|error)$/.test(called) && !isLog(node);
  return node.type === 'ThrowStatement' || isStatus || fails;
}

const isLog = (node: SyntaxNode) => /(?:^|\.)(?:console|log|logger)\./.test(chain(node));

const isWait = (node: SyntaxNode) => node.type === 'AwaitExpression';

function mentions(node: SyntaxNode, param: SyntaxNode | undefined): boolean {
  return param !== undefined && node !== param && nameOf(node) === nameOf(param);
}
