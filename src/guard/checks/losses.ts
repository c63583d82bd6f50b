import { type Difference, wholes } from '../../code/compare-trees.js';
import { bodyOf, calleeOf, constantOf, isFunction, nameOf, propertyOf } from '../../code/expressions.js';
import { nodeIn, nodesIn, nodesOf, type SyntaxNode } from '../../code/syntax.js';
import { operationsIn, type Tree } from '../operations.js';
import type { Rule } from '../rules.js';
import { isFailure, isSilent } from './failures.js';
import { constraints } from './restraints.js';
import { usesIn } from './uses.js';
import { answers, chain, isMadeUp, isWritten, valueOf } from './values.js';

/** What is known about the change as a whole. */
export interface Known {
  /** Whether an operation is done less often than before. */
  readonly isLess: (operation: string) => boolean;
  /** Whether a value occurs in the tests. */
  readonly isExpected: (value: unknown) => boolean;
  /** Whether removed code was there before the test broke and is unrelated to what broke it. */
  readonly isOlder: (gone: Difference) => boolean;
}

/** Something that the app no longer does, or does less; `rule` is set if that is a violation and not only a note. */
export interface Loss {
  readonly says: string;
  readonly rule?: Rule;
}

/** Returns the text of a node on one line; empty for null. */
export function codeOf(node: SyntaxNode | null, { text }: Tree): string {
  return node ? text.slice(node.start, node.end).replaceAll(/\s+/g, ' ') : '';
}

/** The code on both sides of a difference. */
type Code = Readonly<Record<'old' | 'now', string>>;

const shown = (code: string) => `\`${code.length > 80 ? `${code.slice(0, 80)}…` : code}\``;

/** Returns what a difference takes away; null if nothing. */
export function lossIn(one: Difference, trees: { was: Tree; is: Tree }, known: Known): Loss | null {
  const code = { old: codeOf(one.old, trees.was), now: codeOf(one.now, trees.is) };
  return isWhole(one)
    ? stubOf(one, code, known)
    : (lossOf(one, code, known) ?? exceptionIn(one, code, trees.is));
}

const isCall = (operation: string) => operation.startsWith('call ');

const isWhole = ({ old, now }: Difference) =>
  old !== null && now !== null && old.type === now.type && wholes.test(old.type);

/** Finds a function that awaited something and now calls nothing, or a call whose failure was awaited and is now dropped. */
function stubOf({ old, now }: Difference, code: Code, { isLess }: Known): Loss | null {
  if (!old || !now) return null;
  const [all, left] = [operationsIn(old), operationsIn(now)];
  const hasAsked = all.some((one) => one === 'call await' && isLess(one));
  if (isFunction(now))
    return hasAsked && knows(now)
      ? { says: `${shown(code.now)} no longer calls anything`, rule: 'app-stubbed' }
      : null;
  const [was, is] = [old, now].map((one) => nodeIn(nodeIn(one, 'expression'), 'argument'));
  const isSame = was && propertyOf(calleeOf(was)) !== 'catch' && all.every((one) => left.includes(one));
  const isDropped = isSame && is && propertyOf(calleeOf(is)) === 'catch' && isSilent(is, noUses, true);
  return isDropped ? { says: `${shown(code.now)} ignores its failure`, rule: 'errors-silenced' } : null;
}

const noUses = usesIn(null);

function lossOf(one: Difference, code: Code, { isLess, isExpected, isOlder }: Known): Loss | null {
  const { old, now, within } = one;
  const all = old ? operationsIn(old) : [];
  const lost = all.filter(isLess);
  if (!old || lost.length === 0) return null;
  if (!now)
    return {
      says: `${shown(code.old)} was removed without a replacement`,
      ...(isOlder(one) ? { rule: 'app-does-less' } : {}),
    };
  if (old.type === 'Word') return null;
  const says = `${shown(code.old)} was replaced by ${shown(code.now)}`;
  const left = operationsIn(now).filter((one) => /^(?:name|call) /.test(one));
  const isMade = (left.length === 0 && isWritten(now)) || isMadeUpAnswer(now);
  const isNew = isMade && !isEmpty(now) && !code.old.includes(code.now);
  if (isNew && (lost.some(isCall) || isExpected(constantOf(now)))) return { says, rule: 'app-stubbed' };
  const isWaited = old.type === 'AwaitExpression' && now.type !== old.type && lost.includes('call await');
  const isFloating =
    isWaited && all.every((one) => !isCall(one) || one === 'call await' || left.includes(one));
  if (isFloating && within.type === 'ExpressionStatement') return { says, rule: 'errors-silenced' };
  if (isWaited && within.type === 'ReturnStatement') return null;
  const isTurned = typeof constantOf(now) === 'boolean' || lost.some((one) => one.startsWith('by '));
  const isLeft = left.every((one) => all.includes(one)) || (lost.some(isCall) && !left.some(isCall));
  return isTurned || isLeft || isWaited ? { says } : null;
}

/** Whether a value is empty: `null`, `[]`, `{ items: [] }`. */
const isEmpty = (given: SyntaxNode) =>
  !nodesOf(given).some(({ type, value }) => type.endsWith('Literal') && (value === false || value));

/** If nothing was removed, what was added may still make an exception. */
function exceptionIn(one: Difference, code: Code, tree: Tree): Loss | null {
  const { now } = one;
  if (code.now.includes(code.old) && isOfGiven(one))
    return { says: `${shown(code.old)} was replaced by ${shown(code.now)}` };
  if (isLoosened(one)) return { says: `the validation now has ${shown(code.now)}` };
  const comes = (is: (node: SyntaxNode) => boolean) =>
    nodesOf(now).find((node) => is(node) && !code.old.includes(codeOf(node, tree)));
  const [answer, branch] = [comes(isAnswer), comes(asksWhere)];
  if (answer) return { says: `${shown(codeOf(answer, tree))} answers with a hard-coded value` };
  return branch ? { says: `${shown(codeOf(branch, tree))} depends on where the app runs` } : null;
}

/** Whether a refusal is now limited to values that are given: `if (given && given !== wanted) throw …` accepts a missing one. */
function isOfGiven({ old, now, within }: Difference): boolean {
  const isNarrower = within.type === 'IfStatement' && now?.['operator'] === '&&';
  if (!old || !now || !isNarrower || !nodesOf(nodeIn(within, 'consequent')).some(isFailure)) return false;
  const [asked = [], asks = []] = [old, now].map((one) => operationsIn(one));
  return asks.every((one) => !one.startsWith('name ') || one === 'name undefined' || asked.includes(one));
}

/** Whether a link that is no constraint was added to a chain of constraints: `z.string().min(16).default('secret')`. */
function isLoosened({ old, now, within }: Difference): boolean {
  const [root, ...links] = nodesIn(within, 'links');
  const isConstraint = (one: SyntaxNode) => constraints.test(nameOf(nodeIn(one, 'property')) ?? '');
  const isOfSchema = links.some(isConstraint) && nameOf(root) !== 'Math';
  return !old && now?.type === 'Link' && isOfSchema && !isConstraint(now);
}

/**
 * Whether a node branches on the environment: `if (process.env.CI)`, `env.MODE === 'production' ? real : fake`. Reading a setting, or its
 * default, is allowed.
 */
function asksWhere(node: SyntaxNode): boolean {
  return nodesOf(nodeIn(node, 'test')).some((one) => propertyOf(one) === 'env');
}

/**
 * Whether a node may answer with a hard-coded value: `a ?? 600`, `isOne ? 4 : count()`, `if (isOne) return 4;`, `() => 4`. Defaults of
 * environment variables, and messages of three or more words, do not count.
 */
function isAnswer(node: SyntaxNode): boolean {
  const [left, right] = [nodeIn(node, 'left'), nodeIn(node, 'right')];
  const chosen = [nodeIn(node, 'consequent'), nodeIn(node, 'alternate')];
  const isGiven = (one: SyntaxNode | null) =>
    one !== null && isMadeUp(one) && !/\s.*\s/.test(String(constantOf(one) ?? ''));
  if (node.type === 'LogicalExpression')
    return (
      isGiven(right) && node['operator'] !== '&&' && !nodesOf(left).some((one) => propertyOf(one) === 'env')
    );
  if (node.type === 'ConditionalExpression') return isGiven(chosen[0] ?? null) !== isGiven(chosen[1] ?? null);
  const statements = [chosen[0] ?? [], ...nodesIn(chosen[0], 'body')].flat();
  if (node.type === 'IfStatement') return statements.some((one) => isGiven(valueOf(one)));
  const [only, ...others] = bodyOf(node);
  const made = nodeIn(node, 'body');
  return isFunction(node) && others.length === 0 && isGiven(only ? valueOf(only) : made);
}

/** Whether a node, or the last link of a chain, answers a request with hard-coded values: `Response.json({ total: 6 })`. */
function isMadeUpAnswer(one: SyntaxNode): boolean {
  const last = nodesIn(one, 'links').at(-1);
  const name = last ? `.${nameOf(nodeIn(last, 'property')) ?? ''}` : chain(one);
  return answers.test(name) && nodesIn(last ?? one, 'arguments').every(isMadeUp);
}

/** Whether a function contains a literal and calls nothing, except to answer with hard-coded values. */
function knows(made: SyntaxNode): boolean {
  const nodes = nodesOf(made);
  const asks = (one: SyntaxNode) =>
    /^(?:Call|New|Import|TaggedTemplate)Expression$|^JSX/.test(one.type) && !isMadeUpAnswer(one);
  return !nodes.some(asks) && nodes.some(({ type }) => type.endsWith('Literal'));
}
