import { print } from '../code/locators.js';
import type { SourceFile } from '../code/source-file.js';
import {
  calleeOf,
  childrenOf,
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
import type { Violation } from '../model/guard-findings.js';
import type { Change } from './change.js';
import { type Decision, scopesIn, testsOf } from './decisions.js';
import { type AppFile, appFileOf, type Found, type Place } from './programs.js';
import { type Rule, violationOf } from './rules.js';
import { swallowedIn } from './swallowed.js';
import { shown, suspicionsInText } from './text-suspicions.js';
import { type TestValues, testValues, type Value } from './test-values.js';
import { testsOfHealed } from './other-input.js';

/**
 * Finds what agents are known to cheat with in an app, of which a person is asked (HN-3): a new condition, or a value chosen by one, with a
 * literal that the tests type or expect; an exception that is newly swallowed; a check that decides no more. Empty if the tests to heal are unknown.
 */
export async function suspicionsIn(change: Change): Promise<Violation[]> {
  const { request, ofApp, now } = change;
  const tests = testsOfHealed(request.healed, now);
  if (tests.length === 0) return [];
  const edits = ofApp.filter(({ before, after }) => before?.text !== null && after?.text !== null);
  const [olds, news] = [
    edits.map((edit) => appFileOf(edit, edit.before)),
    edits.map((edit) => appFileOf(edit, edit.after)),
  ];
  const values = testValues(tests);
  return [
    ...(await literalsIn(change, { olds, news, values })),
    ...gained(olds, news, swallowedIn).map((one) => suspect(one, 'exception-swallowed')),
    ...checksLost(olds, news),
    ...answersIn(olds, news, values),
    ...news.flatMap((one, at) => suspicionsInText(one, olds[at]?.rest ?? '', values)),
  ];
}

function suspect({ node, source }: Place, rule: Rule): Violation {
  const line = source.lineAt(node.start);
  const after = source.lines[line - 1]?.trim() ?? '';
  return violationOf(rule, { file: source.path, line, after, detail: shown(after) });
}

const programsOf = (files: readonly AppFile[]) => files.flatMap(({ programs }) => programs);

/** Returns what the new programs have more often than the old ones. */
function gained(
  olds: readonly AppFile[],
  news: readonly AppFile[],
  find: (source: SourceFile) => readonly Found[],
): Found[] {
  const left = programsOf(olds)
    .flatMap(find)
    .map(({ text }) => text);
  return programsOf(news)
    .flatMap(find)
    .filter(({ text }) => {
      const at = left.indexOf(text);
      if (at !== -1) left.splice(at, 1);
      return at === -1;
    });
}

interface States {
  readonly olds: readonly AppFile[];
  readonly news: readonly AppFile[];
  readonly values: TestValues;
}

/** A literal that takes part in a decision. */
interface Deciding extends Found {
  readonly value: Value;
  readonly isCompared: boolean;
}

async function literalsIn({ request }: Change, { olds, news, values }: States): Promise<Violation[]> {
  const before = programsOf(olds).flatMap(({ program }) => nodesOf(program));
  const known = {
    conditions: new Set(before.flatMap(conditionOf).map((one) => print(one))),
    names: new Set(
      before.flatMap((node) =>
        node.type === 'VariableDeclarator' ? (nameOf(nodeIn(node, 'id')) ?? []) : [],
      ),
    ),
  };
  const find = (source: SourceFile): Deciding[] => decidingIn(source, known);
  const found = (gained(olds, news, find) as Deciding[]).filter(({ value, isCompared }) =>
    isCompared ? values.isTyped(value) || values.isExpected(value) : values.isAnswer(value),
  );
  const words = found.filter(
    ({ value, isCompared }) => isCompared && typeof value === 'string' && !values.isTyped(value),
  );
  const code = words.length > 0 ? await quotedIn(request.before) : '';
  const isKnown = ({ value }: Deciding) => code.includes(`'${String(value).toLowerCase()}'`);
  const lists = gained(olds, news, (source) => listsIn(source, known)).filter(({ node }) =>
    values.isList(nodesIn(node, 'elements').map(constantOf)),
  );
  return [...found.filter((one) => !words.includes(one) || !isKnown(one)), ...lists].map((one) =>
    suspect(one, 'test-value-decides'),
  );
}

/** Returns the text of the app's code as it was, with all quotes alike: its own words are compared with in honest code, too. */
async function quotedIn(before: Change['request']['before']): Promise<string> {
  const code = (await before.paths()).filter(
    (file) =>
      /\.(?:[cm]?[jt]sx?|vue|svelte|html)$/.test(file) &&
      !/\.(?:spec|test)\.|(?:^|\/)(?:e2e|tests?)\//.test(file),
  );
  const texts = [...(await before.read(code.slice(0, 2000))).values()];
  // What a list of objects holds is data.
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replaceAll(/["`]/g, "'")
      .replaceAll(/\[\s*\{[^]*?\}\s*,?\s*\]/g, '');
  return texts.map((bytes) => plain(Buffer.from(bytes).toString('utf8'))).join('\n');
}

/** Returns what decides whether something is done or which value is taken. */
function conditionOf(node: SyntaxNode): SyntaxNode[] {
  if (node.type === 'LogicalExpression') return [nodeIn(node, 'left') ?? node];
  const test = /^(?:If|Conditional)/.test(node.type) ? nodeIn(node, 'test') : null;
  if (test) return [test];
  return node.type === 'SwitchStatement' ? [nodeIn(node, 'discriminant') ?? node] : [];
}

const membership = /^(?:includes|has|get|indexOf|lastIndexOf|find|findIndex|some|filter)$/;
const matching =
  /^(?:includes|has|get|startsWith|endsWith|indexOf|lastIndexOf|localeCompare|equals|is|match|matchAll|test|search|exec|replace|replaceAll)$/;

/** The conditions that an app has had, printed, and the names of its variables: what is added to a table that was there is no new condition. */
interface Known {
  readonly conditions: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
}

/** Returns the lists of constants, but those that the app had already. */
function listsIn(source: SourceFile, { names }: Known): Found[] {
  const nodes = nodesOf(source.program);
  const had = nodes.flatMap((node) =>
    names.has(nameOf(nodeIn(node, 'id')) ?? '') ? (nodeIn(node, 'init') ?? []) : [],
  );
  const isConstant = (node: SyntaxNode) => constantOf(node) !== undefined;
  return nodes
    .filter((node) => node.type === 'ArrayExpression' && !had.includes(node))
    .filter((node) => nodesIn(node, 'elements').length > 1 && nodesIn(node, 'elements').every(isConstant))
    .map((node) => ({ node, source, text: print(node) }));
}

function decidingIn(source: SourceFile, known: Known): Deciding[] {
  const nodes = nodesOf(source.program);
  const constants = new Map(
    nodes.flatMap((node) => {
      const init = node.type === 'VariableDeclarator' ? nodeIn(node, 'init') : null;
      const name = nameOf(nodeIn(node, 'id'));
      return init && name !== null ? [[name, unwrap(init)] as const] : [];
    }),
  );
  const resolved = (given: SyntaxNode | null): SyntaxNode | null => {
    const node = given && unwrap(given);
    return node?.type === 'Identifier' ? (constants.get(String(node['name'])) ?? node) : node;
  };
  const found: Deciding[] = [];
  const add = (node: SyntaxNode | null, isCompared: boolean) => {
    for (const { value, at } of node ? valuesIn(node, isCompared) : [])
      found.push({
        node: at,
        source,
        value,
        isCompared,
        text: `${isCompared} ${String(value).toLowerCase()}`,
      });
  };
  const compare = (node: SyntaxNode | null) => {
    const held = resolved(node);
    if (!held) return;
    const isList = /^(?:Array|Object|New)/.test(held.type);
    if (isList && node && known.names.has(nameOf(unwrap(node)) ?? '')) return;
    if (isList || held.type === 'Literal' || constantOf(held) !== undefined) add(held, true);
    // What a table has for its keys is chosen by them.
    if (held.type === 'ObjectExpression') add(held, false);
  };
  for (const node of nodes) {
    const { type, operator } = node;
    if (type === 'BinaryExpression' && /^(?:[!=]==?|[<>]=?)$/.test(String(operator))) {
      const sides = [nodeIn(node, 'left'), nodeIn(node, 'right')];
      const isStatus = sides.some((side) => /status|code/i.test(propertyOf(side) ?? nameOf(side) ?? ''));
      if (!isStatus) for (const side of sides) compare(side);
    }
    if (type === 'CallExpression') {
      const callee = calleeOf(node);
      const method = propertyOf(callee) ?? '';
      const object = nodeIn(callee, 'object');
      if (nameOf(object) === 'Math') for (const arg of nodesIn(node, 'arguments')) add(arg, false);
      if (matching.test(method)) for (const arg of nodesIn(node, 'arguments').slice(0, 1)) compare(arg);
      const held = resolved(object);
      if (
        (membership.test(method) && held && /^(?:Array|New)/.test(held.type)) ||
        (/^(?:test|exec)$/.test(method) && held?.['regex'])
      )
        compare(object);
    }
    if (type === 'MemberExpression' && node['computed'] === true) {
      const object = nodeIn(node, 'object');
      if (resolved(object)?.type === 'ObjectExpression') compare(object);
    }
    if (type === 'AssignmentExpression') {
      const left = nodeIn(node, 'left');
      if (left?.['computed'] === true) compare(nodeIn(left, 'property'));
    }
    if (type === 'AssignmentPattern') add(nodeIn(node, 'right'), false);
    if (conditionOf(node).some((one) => known.conditions.has(print(one)))) continue;
    if (type === 'SwitchStatement') for (const one of nodesIn(node, 'cases')) compare(nodeIn(one, 'test'));
    if (type === 'ConditionalExpression')
      for (const side of ['consequent', 'alternate']) add(nodeIn(node, side), false);
    if (type === 'LogicalExpression') add(nodeIn(node, 'right'), false);
    if (type === 'IfStatement' || type === 'SwitchStatement')
      for (const one of nodesOf(node)) {
        if (one.type === 'ReturnStatement') add(nodeIn(one, 'argument'), false);
        if (one.type === 'AssignmentExpression') add(nodeIn(one, 'right'), false);
      }
  }
  return [...new Map(found.map((one) => [`${one.node.start} ${one.isCompared}`, one])).values()];
}

/** Returns the constants in an expression, with the words of patterns and, if they are compared, the keys of objects; not the texts of elements, and no status. */
function valuesIn(
  given: SyntaxNode,
  isCompared: boolean,
): { readonly value: Value; readonly at: SyntaxNode }[] {
  const node = unwrap(given);
  if (node.type.startsWith('JSX') || isFunction(node)) return [];
  const value = constantOf(node);
  if (typeof value === 'string' || typeof value === 'number') return [{ value, at: node }];
  const { pattern } = (node['regex'] ?? {}) as { readonly pattern?: string };
  if (pattern !== undefined)
    return (pattern.match(/[\p{L}\p{N}]{3,}/gu) ?? []).map((word) => ({ value: word, at: node }));
  const key = node.type === 'Property' ? nameOf(nodeIn(node, 'key')) : null;
  const own = key !== null && isCompared ? [{ value: key, at: node }] : [];
  if (/^(?:status|statusCode|code)$/.test(key ?? propertyOf(calleeOf(node)) ?? '')) return own;
  const values = node.type === 'TemplateLiteral' || (key !== null && isCompared) ? [] : childrenOf(node);
  return [
    ...own,
    ...values.filter((one) => one !== nodeIn(node, 'key')).flatMap((one) => valuesIn(one, isCompared)),
  ];
}

const always = (node: SyntaxNode) => {
  const value = constantOf(node);
  return value === undefined || value === null ? undefined : value;
};

/** Finds functions and variables that were computed, and are now what the tests expect, whatever happens. */
function answersIn(olds: readonly AppFile[], news: readonly AppFile[], values: TestValues): Violation[] {
  return pairs(olds, news).flatMap(({ was, is, source }) =>
    [...is.values].flatMap(([name, nodes]) => {
      const before = was?.values.get(name) ?? [];
      const [value, ...others] = new Set(nodes.map(always));
      const wasComputed = before.some((one) => always(one) === undefined);
      const [node] = nodes;
      if (!node || !wasComputed || value === undefined || others.length > 0) return [];
      if (typeof value === 'boolean') return name === null ? [suspect({ node, source }, 'check-lost')] : [];
      return values.isAnswer(value) ? [suspect({ node, source }, 'test-value-decides')] : [];
    }),
  );
}

/** Pairs the scopes of the programs by file and name. */
function pairs(olds: readonly AppFile[], news: readonly AppFile[]) {
  return news.flatMap((file, at) =>
    file.programs.flatMap((source, index) => {
      const old = olds[at]?.programs[index];
      const before = old ? scopesIn(old.program) : new Map<string, never>();
      return [...scopesIn(source.program)].map(([name, is]) => ({ was: before.get(name), is, old, source }));
    }),
  );
}

/** Finds functions in which fewer things decide than before, and conditions that are always the same. */
function checksLost(olds: readonly AppFile[], news: readonly AppFile[]): Violation[] {
  const scopes = pairs(olds, news);
  const constant = gained(olds, news, (source) =>
    nodesOf(source.program)
      .flatMap(testsOf)
      .filter((one) => typeof constantOf(one) === 'boolean' || isSame(one) || isAnyPattern(one))
      .map((node) => ({ node, source, text: print(node) })),
  ).map((one) => suspect(one, 'check-lost'));
  // A function that is new may have taken over what others decided.
  let inNew = scopes.flatMap(({ was, is }) =>
    was ? [] : is.decisions.filter((one) => !isConstant(one)),
  ).length;
  const changes = scopes.map(({ was, is, old, source }) => {
    const [lost, come] = [
      without(was?.decisions ?? [], is.decisions),
      without(is.decisions, was?.decisions ?? []),
    ];
    return { lost: lost.filter(({ isWeak }) => !isWeak), come, old, source };
  });
  // What has moved to another function is still there.
  const moved = changes.flatMap(({ come }) => come.map(({ text }) => text));
  return [
    ...constant,
    ...changes.flatMap(({ lost, come, old }) => {
      const isMoved = ({ text }: Decision) => !come.some((one) => one.text === text) && take(moved, text);
      const gone = lost.filter((one) => !isMoved(one));
      const [first] = gone;
      const missing = gone.length - come.filter((one) => !isConstant(one)).length;
      if (!first || !old || missing <= 0 || (inNew -= missing) >= 0) return [];
      const line = old.lineAt(first.node.start);
      const before = old.lines[line - 1]?.trim() ?? '';
      return [violationOf('check-lost', { file: old.path, line, before, detail: shown(before) })];
    }),
  ];
}

const isConstant = ({ node }: Decision) => constantOf(node) !== undefined || isSame(node);

function take(texts: string[], text: string): boolean {
  const at = texts.indexOf(text);
  if (at !== -1) texts.splice(at, 1);
  return at !== -1;
}

function without(some: readonly Decision[], others: readonly Decision[]): Decision[] {
  const left = others.map(({ text }) => text);
  return some.filter(({ text }) => !take(left, text));
}

/** Whether both sides of a comparison are constant, or the same. */
function isSame(node: SyntaxNode): boolean {
  if (node.type !== 'BinaryExpression') return false;
  const [left, right] = [nodeIn(node, 'left'), nodeIn(node, 'right')];
  if (!left || !right) return false;
  return (constantOf(left) !== undefined && constantOf(right) !== undefined) || print(left) === print(right);
}

/** Whether a call tests with a pattern that matches any text. */
function isAnyPattern(node: SyntaxNode): boolean {
  const { pattern } = (nodeIn(calleeOf(node), 'object')?.['regex'] ?? {}) as { readonly pattern?: string };
  return pattern !== undefined && /^\^?(?:\(\?:\))?(?:\.|\[\\s\\S\])?[*+]?\$?$/.test(pattern);
}
