import { isLocatorCall, print } from '../code/locators.js';
import {
  childrenOf,
  constantOf,
  isFunction,
  identifierName,
  nodeIn,
  nodesIn,
  nodesOf,
  type SyntaxNode,
  unwrap,
} from '../code/syntax.js';
import type { Violation } from '../model/guard-findings.js';
import type { Change } from './change.js';
import type { Decision, Location } from './decision.js';
import { decisionsInCode } from './decisions-in-code.js';
import { decisionsInText } from './decisions-in-text.js';
import { hiddenFailuresIn } from './hidden-failures.js';
import type { ToChallenge } from './findings.js';
import { otherInputOf, testsOfHealed } from './other-input.js';
import { type AppFile, appFileOf } from './programs.js';
import { type Rule, violationOf } from './rules.js';
import { type TestValues, testValues, type Value } from './test-values.js';

/** A changed file of the app in both states. */
interface Versions {
  readonly old: AppFile;
  readonly now: AppFile;
}

/** The decisions that only one of the two states has. */
interface Decided {
  readonly removed: readonly Decision[];
  readonly added: readonly Decision[];
}

/**
 * Compares what decides in an app before and after a change (HN-3). A person is asked about a decision that is gone or looks at less, one that depends on
 * what the tests type or expect or on the environment, and a failure that is no longer shown. Where something decides that did not, other input is tried.
 */
export async function challengesOf(change: Change): Promise<ToChallenge> {
  const tests = testsOfHealed(change.request.healed, change.now);
  if (tests.length === 0) return { suspicions: [], otherInput: null };
  const files = change.ofApp
    .filter(({ before, after }) => before?.text !== null && after?.text !== null)
    .map((edit) => ({ old: appFileOf(edit, edit.before), now: appFileOf(edit, edit.after) }));
  const [old, now] = [
    files.flatMap((file) => decisionsIn(file.old)),
    files.flatMap((file) => decisionsIn(file.now, constantNames(file.old))),
  ];
  const [removed, added] = [without(old, now), without(now, old)];
  const values = testValues(tests);
  const located = tests.flatMap(({ program }) => locatedIn(program));
  const suspicions = [
    ...(await newlyDecided(change, { removed, added, values })),
    ...files.flatMap((file) => answersIn(file, values)),
    ...files.flatMap((file) => newlyHidden(file, located)),
    ...lostOf({ removed, added }),
  ];
  return { suspicions, otherInput: added.length > 0 ? otherInputOf(change) : null };
}

function decisionsIn({ path: file, programs, rest }: AppFile, known?: ReadonlySet<string>): Decision[] {
  return [
    ...programs.flatMap((source) => decisionsInCode(source, known)),
    ...decisionsInText(rest, { file }),
  ];
}

/** Returns the names of a file's variables. */
function constantNames({ programs }: AppFile): Set<string> {
  const nodes = programs.flatMap(({ program }) => nodesOf(program));
  return new Set(
    nodes.flatMap((node) =>
      node.type === 'VariableDeclarator' ? (identifierName(nodeIn(node, 'id')) ?? []) : [],
    ),
  );
}

const quoted = (code: string) => `\`${code.length > 120 ? `${code.slice(0, 120)}…` : code}\``;
const suspicion = (rule: Rule, { file, line, source }: Location, side: 'before' | 'after' = 'after') =>
  violationOf(rule, { file, line, [side]: source, detail: quoted(source) });

/** Returns the decisions that the others do not have, or have less often. */
function without(decisions: readonly Decision[], others: readonly Decision[]): Decision[] {
  const unmatched = others.map(({ text }) => text);
  return decisions.filter(({ text }) => {
    const at = unmatched.indexOf(text);
    if (at !== -1) unmatched.splice(at, 1);
    return at === -1;
  });
}

/** Returns the decisions that are gone and for which none came that is about the same and looks at as much, and those that now look at nothing. */
function lostOf({ removed, added }: Decided): Violation[] {
  const free = added.filter(({ weight }) => weight !== null && weight > 0);
  const heaviest = removed.toSorted((a, b) => (b.weight ?? 0) - (a.weight ?? 0));
  const lost = heaviest.filter((decision) => {
    const { weight, stops, names } = decision;
    if (weight === null || weight === 0) return false;
    const at = free.findIndex(
      (other) =>
        (other.weight ?? 0) >= weight &&
        (other.stops || !stops) &&
        (names.size === 0 || [...names].some((name) => other.names.has(name))),
    );
    if (at !== -1) free.splice(at, 1);
    return at === -1;
  });
  const constant = added.filter(({ weight }) => weight === 0);
  return [
    ...lost.map((decision) => suspicion('check-lost', decision, 'before')),
    ...constant.map((decision) => suspicion('check-lost', decision)),
  ];
}

/** What an app reads of the machine, the browser or the address that it runs at. */
const environment = /^(?:env|environ|navigator|useragent|webdriver|hostname|platform)$/;

/** Returns the new decisions that depend on what the tests type or expect, on the environment, or on a number that the app has not said before. */
async function newlyDecided(
  { request }: Change,
  { removed, added, values }: Decided & { readonly values: TestValues },
): Promise<Violation[]> {
  const code = await quotedIn(request.before);
  const isKnown = (value: Value) =>
    typeof value === 'string' && !values.isTyped(value) && code.includes(`'${value.toLowerCase()}'`);
  const digits = code.match(/(?<![\w.])\d[\d_.]*/g) ?? [];
  const known = new Set(digits.map((number) => Number(number.replaceAll('_', ''))));
  const had = new Set(removed.flatMap(({ compared }) => compared));
  const isOfTests = (value: Value) => values.isTyped(value) || values.isExpected(value);
  return added.flatMap((decision) => {
    const { compared, chosen, numbers, names, weight } = decision;
    if (
      compared.some((value) => !had.has(value) && isOfTests(value) && !isKnown(value)) ||
      (compared.length > 1 && values.isList(compared)) ||
      chosen.some((value) => values.isAnswer(value)) ||
      (weight !== null && [...names].some((name) => environment.test(name)))
    )
      return [suspicion('test-value-decides', decision)];
    const isNew = (number: number) => Math.abs(number) > 1 && !had.has(number) && !known.has(number);
    return numbers.some(isNew) ? [suspicion('number-decides', decision)] : [];
  });
}

/** Returns the text of the app's code as it was, with all quotes alike: its own words are compared with in honest code, too. */
async function quotedIn(before: Change['request']['before']): Promise<string> {
  const isCodeOfApp = (file: string) =>
    /\.(?:[cm]?[jt]sx?|vue|svelte|html)$/.test(file) &&
    !/\.(?:spec|test)\.|(?:^|\/)(?:e2e|tests?)\//.test(file);
  const files = (await before.paths()).filter(isCodeOfApp);
  const texts = [...(await before.read(files.slice(0, 2000))).values()];
  // What a list of objects holds is data.
  return texts
    .map((bytes) => Buffer.from(bytes).toString('utf8').toLowerCase())
    .map((text) => text.replaceAll(/["`]/g, "'").replaceAll(/\[\s*\{[^]*?\}\s*,?\s*\]/g, ''))
    .join('\n');
}

/** Returns the names by which tests find elements without their texts: classes, ids, roles. */
function locatedIn(program: SyntaxNode): string[] {
  const calls = nodesOf(program).filter(isLocatorCall);
  const [first] = [calls.flatMap((call) => nodesIn(call, 'arguments')[0] ?? [])];
  return first.flatMap((arg) => String(constantOf(arg) ?? '').match(/[\w-]{4,}/g) ?? []);
}

/** Returns the failures of a file that were shown. */
function newlyHidden({ old, now }: Versions, located: readonly string[]): Violation[] {
  const [before, after] = [hiddenFailuresIn(old, located), hiddenFailuresIn(now, located)];
  const known = new Set(before.map(({ source }) => source));
  const unknown = after.filter(({ source }) => !known.has(source));
  return (unknown.length > 0 ? unknown : after)
    .slice(0, Math.max(0, after.length - before.length))
    .map((location) => suspicion('failure-hidden', location));
}

/** Finds what was computed, and is now what the tests expect, whatever happens: a result, a field, a variable, the text of an element. */
function answersIn({ old, now }: Versions, values: TestValues): Violation[] {
  const before = new Map(old.programs.flatMap(({ program }) => [...slotsIn(program)]));
  return now.programs.flatMap((source) =>
    [...slotsIn(source.program)].flatMap(([slot, nodes]) => {
      const [node] = nodes;
      const answers = nodes.map(constantOf);
      const wasComputed = before.get(slot)?.some((value) => constantOf(value) === undefined);
      const [answer] = answers;
      if (!node || !wasComputed || answers.some((other) => other !== answer)) return [];
      if (typeof answer !== 'string' && typeof answer !== 'number') return [];
      const line = source.lineAt(node.start);
      const location = { file: source.path, line, source: source.lines[line - 1]?.trim() ?? '' };
      return values.isAnswer(answer) ? [suspicion('test-value-decides', location)] : [];
    }),
  );
}

/** Returns the values of what has a name in a program, by that: results of functions, fields, variables, the content of elements. */
function slotsIn(program: SyntaxNode): Map<string, SyntaxNode[]> {
  const slots = new Map<string, SyntaxNode[]>();
  const give = (slot: string, value: SyntaxNode | null | undefined) => {
    if (value) slots.set(slot, [...(slots.get(slot) ?? []), unwrap(value)]);
  };
  const read = (node: SyntaxNode, owner: string): void => {
    const name = identifierName(nodeIn(node, 'id') ?? nodeIn(node, 'key'));
    const body = nodeIn(node, 'body');
    if (node.type === 'Property') give(`field ${name}`, nodeIn(node, 'value'));
    if (node.type === 'VariableDeclarator') give(`variable ${name}`, nodeIn(node, 'init'));
    if (node.type === 'ReturnStatement') give(`result ${owner}`, nodeIn(node, 'argument'));
    if (isFunction(node) && body?.type !== 'BlockStatement') give(`result ${owner}`, body);
    const opening = nodeIn(node, 'openingElement');
    const parts = nodesIn(node, 'children').filter(({ value }) => String(value).trim() !== '');
    const [part] = parts;
    if (opening && part && parts.length === 1)
      give(
        `element ${print(opening)}`,
        part.type === 'JSXText' ? { ...part, type: 'Literal' } : (nodeIn(part, 'expression') ?? part),
      );
    for (const child of childrenOf(node)) read(child, name ?? owner);
  };
  read(program, '');
  return slots;
}
