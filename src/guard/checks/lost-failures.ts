import type { Violation } from '../../core/guard/violation.js';
import {
  calleeOf,
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
import { type Rule, violationOf } from '../rules.js';
import { isSilent } from './failures.js';
import { usesIn } from './uses.js';
import { answers, chain, isMadeUp, valueOf } from './values.js';

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
