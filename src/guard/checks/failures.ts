import type { Violation } from '../../core/guard/violation.js';
import {
  calleeOf,
  isFunction,
  nameOf,
  nodeIn,
  nodesIn,
  placeOf,
  propertyOf,
  type SourceFile,
  type SyntaxNode,
  visit,
} from '../code/syntax.js';
import { violationOf } from '../rules.js';

/** What fails in the app has to be told as before: conditions that failed and no longer do, and functions that asked and now make up their answer. */
export function lostFailures(old: SourceFile, now: SourceFile): Violation[] {
  const [failed, asked] = [failuresIn(old), askedIn(old)];
  const fails = failuresIn(now);
  const at = (node: SyntaxNode) => {
    const { file, line, source } = placeOf(now, node);
    return { file, line, after: source };
  };
  const passed = [...fails].filter(([test, { isFailing }]) => !isFailing && failed.get(test)?.isFailing);
  const answers = [...askedIn(now)].filter(
    ([name, one]) => !one.waits && asked.get(name)?.waits && one.isMadeUp,
  );
  return [
    ...passed.map(([test, { node }]) => violationOf('errors-silenced', { ...at(node), detail: test })),
    ...answers.map(([name, { node }]) => violationOf('app-stubbed', { ...at(node), detail: name })),
  ];
}

/** Conditions by their texts, and whether what hangs on one throws, rejects, or answers with an error's number. */
function failuresIn({ program, text }: SourceFile): Map<string, { node: SyntaxNode; isFailing: boolean }> {
  const found = new Map<string, { node: SyntaxNode; isFailing: boolean }>();
  visit(program, (node) => {
    const [test, done] = [nodeIn(node, 'test'), nodeIn(node, 'consequent')];
    if (node.type !== 'IfStatement' || !test || !done) return;
    const key = text.slice(test.start, test.end).replaceAll(/\s+/g, ' ');
    found.set(key, { node, isFailing: found.get(key)?.isFailing === true || some(done, isFailure) });
  });
  return found;
}

/** Functions by their names: whether they wait for something, and whether they call nothing and know their answer. */
function askedIn({
  program,
}: SourceFile): Map<string, { node: SyntaxNode; waits: boolean; isMadeUp: boolean }> {
  const found = new Map<string, { node: SyntaxNode; waits: boolean; isMadeUp: boolean }>();
  visit(program, (node) => {
    const made = [node, ...['init', 'value'].flatMap((field) => nodeIn(node, field) ?? [])].find(isFunction);
    const name = nameOf(nodeIn(node, 'id') ?? nodeIn(node, 'key'));
    if (!made || name === null) return;
    const waits = some(made, (one) => one.type === 'AwaitExpression');
    const isMadeUp =
      !some(made, (one) => /^(?:Call|New|Import|TaggedTemplate)Expression$|^JSX/.test(one.type)) &&
      some(made, (one) => one.type === 'Literal');
    found.set(name, { node, waits, isMadeUp });
  });
  return found;
}

/** Whether a node drops the error of something that is waited for, or of a request: nobody learns of it. */
export function isSilent(node: SyntaxNode): boolean {
  const handler = nodeIn(node, 'handler');
  if (handler) {
    const block = nodeIn(node, 'block');
    return (
      block !== null && some(block, (one) => one.type === 'AwaitExpression') && !some(handler, tells(handler))
    );
  }
  const made = nodesIn(node, 'arguments').find(isFunction);
  const name = propertyOf(calleeOf(node));
  const params = nodesIn(made, 'params');
  if (!made || name === null) return false;
  if (name === 'catch') return !some(made, tells(made));
  const isServers = name === 'setErrorHandler' || (name === 'use' && params.length === 4);
  const [error] = params;
  return (
    isServers && !some(made, (one) => isFailure(one) || (one !== error && nameOf(one) === nameOf(error)))
  );
}

/** What tells of an error: another call, an assignment, a word, `false`; not its own parameter. */
function tells(handler: SyntaxNode): (node: SyntaxNode) => boolean {
  const params = [nodeIn(handler, 'param'), ...nodesIn(handler, 'params')];
  return (node) =>
    /^(?:Throw|Call|New|Assignment)/.test(node.type) ||
    (node.type === 'Identifier' && node['name'] !== 'undefined' && !params.includes(node)) ||
    (node.type === 'Literal' && (node['value'] === false || /\w/.test(nameOf(node) ?? '')));
}

/** `app.use((request, response) => response.json({}))`: whatever is asked is answered without a look at it. */
export function isCatchAll(node: SyntaxNode): boolean {
  const args = nodesIn(node, 'arguments');
  const made = args.at(-1);
  const [path] = args.length > 1 ? args : [];
  const [request, , next] = nodesIn(made, 'params');
  if (!/^(?:use|all|get|post)$/.test(propertyOf(calleeOf(node)) ?? '') || !made || !isFunction(made))
    return false;
  if (next || (args.length > 1 && !/^[/(.]*\*/.test(nameOf(path) ?? ''))) return false;
  const answers = (one: SyntaxNode) => /^(?:json|send|end|text|html)$/.test(propertyOf(calleeOf(one)) ?? '');
  const looks = (one: SyntaxNode) =>
    one !== request && request !== undefined && nameOf(one) === nameOf(request);
  return some(made, answers) && !some(made, (one) => isFailure(one) || looks(one));
}

function isFailure(node: SyntaxNode): boolean {
  const value = Number(node['value']);
  const called = propertyOf(calleeOf(node)) ?? nameOf(calleeOf(node));
  return (
    node.type === 'ThrowStatement' ||
    (node.type === 'Literal' && value >= 400 && value < 600) ||
    /^(?:reject|next|fail|abort|error)$/.test(called ?? '')
  );
}

function some(node: SyntaxNode, is: (node: SyntaxNode) => boolean): boolean {
  let found = false;
  visit(node, (one) => {
    found ||= is(one);
  });
  return found;
}
