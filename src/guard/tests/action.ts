import type { LocatorText } from '../code/locator.js';
import { type PrintContext, printCode } from '../code/print.js';
import { lookUp, type Scope } from '../code/scope.js';
import { memberNode, nameOf, nodeIn, nodesIn, propertyOf, type SyntaxNode } from '../code/syntax.js';
import { amountOf, type BareAssertion, optionTexts } from './assertion.js';
import { callKind, ownOption, sameVerb, selectorFirst } from './calls.js';
import type { ActionStep } from './step.js';

/** Where a call stands. */
interface At extends PrintContext {
  readonly scope: Scope;
  readonly awaited: boolean;
  /** It is called on Playwright's `test`. */
  readonly isTests: boolean;
}

type BareAction = Omit<ActionStep, 'file' | 'line' | 'source' | 'guards' | 'awaited'>;

/** Reads a call that does something; null for one that only reads. */
export function actionOf(node: SyntaxNode, at: At): BareAction | null {
  const { name, receiver, data, options, locators } = callParts(node, at);
  const found = callKind(name);
  if (!found) return null;
  // `use` of a fixture hands over its value; that of a test sets its options.
  const isOption = found.rule === 'run-option' || found.rule === 'test-modifier';
  const isInfo = /info$/i.test(receiver) || /^‹[\d.]*1›$/.test(receiver) || receiver === '';
  const isExpect = /^expect\b/i.test(receiver);
  const { kind, rule } =
    isOption && !at.isTests && !(isInfo && found.rule === 'test-modifier') && !isExpect
      ? { kind: 'action' as const, rule: 'step-added' as const }
      : found;
  const limit = kind === 'limit' ? amountOf(data[0] ?? '') : null;
  const verb = sameVerb[name] ?? name;
  const typed = typing.test(name) ? textIn(data.at(-1) ?? '') : null;
  return {
    kind,
    rule: isExpect && isOption ? 'expect-replaced' : rule,
    verb,
    data: kind === 'limit' ? receiver : [receiver, ...data].join(', '),
    forced: options.some((one) => one === 'force: true' || one === 'trial: true'),
    locators,
    timeoutMs: limit ?? timeoutIn(options),
    ...(typed === null ? {} : { types: typed }),
  };
}

/** Calls that give the app a text of the test's own choice, not one of a few that the page offers. */
const typing = /^(?:fill|type|pressSequentially|insertText)$/;

function textIn(printed: string): string | null {
  return /^"(?:[^"\\]|\\.)*"$/.test(printed) ? (JSON.parse(printed) as string) : null;
}

/** A wait for a state is the assertion of that state. */
export function waitOf(node: SyntaxNode, at: At): BareAssertion | null {
  const { name, locators, options, data } = callParts(node, at);
  const timeoutMs = timeoutIn(options);
  const base = {
    kind: 'assertion',
    soft: false,
    polled: false,
    options: [],
    locators,
    timeoutMs,
    origin: 'playwright',
  } as const;
  if (name === 'waitForURL')
    return { ...base, subject: 'page', matcher: 'toHaveURL', negated: false, expected: data.join(', ') };
  if (name !== 'waitForSelector' && !(name === 'waitFor' && locators.length > 0)) return null;
  const state = options.find((one) => one.startsWith('state: '))?.slice('state: '.length) ?? '"visible"';
  const negated = state === '"hidden"' || state === '"detached"';
  const matcher = /attached|detached/.test(state) ? 'toBeAttached' : 'toBeVisible';
  return { ...base, subject: '‹locator›', matcher, negated, expected: '' };
}

interface CallParts {
  readonly name: string;
  readonly receiver: string;
  readonly data: readonly string[];
  /** `key: value` of the last argument, if it is an options object. */
  readonly options: readonly string[];
  readonly locators: readonly LocatorText[];
}

function callParts(node: SyntaxNode, at: At): CallParts {
  const { scope } = at;
  const print = (one: SyntaxNode) => printCode(one, scope, at);
  const callee = nodeIn(node, 'callee') ?? node;
  const member = callee.type === 'MemberExpression' ? nodeIn(callee, 'object') : null;
  const name = propertyOf(callee) ?? nameOf(callee) ?? '';
  // Which `test` it is stands with the test itself.
  const receiver = at.isTests
    ? { text: 'test', locators: [] }
    : member
      ? print(member)
      : { text: '', locators: [] };
  const args = nodesIn(node, 'arguments');
  const [selector] = args;
  const bySelector = selectorFirst.test(name) && isPage(receiver.text) && selector ? selector : null;
  const looked = bySelector ? print(locatorCall(bySelector)).locators : [];
  const rest = bySelector ? args.slice(1) : args;
  const last = rest.at(-1);
  const found = last && at.sources.resolve(last, scope);
  const options = found?.node.type === 'ObjectExpression' ? optionTexts(found, at) : null;
  const printed = (options ? rest.slice(0, -1) : rest).map(print);
  return {
    name,
    receiver: bySelector ? '‹locator›' : member ? pageless(receiver.text) : calledName(callee, at),
    data: [...printed.map((one) => one.text), ...(options ?? []).filter((one) => !ownOption.test(one))],
    options: options ?? [],
    locators: [...receiver.locators, ...looked, ...printed.flatMap((one) => one.locators)],
  };
}

/** What is called by a name of its own, from wherever that comes; a computed member counts as its text. */
function calledName(callee: SyntaxNode, at: At): string {
  const name = nameOf(callee);
  return name !== null && !lookUp(name, at.scope) ? '' : printCode(callee, at.scope, at).text;
}

function pageless(text: string): string {
  return text.replace(/^(?:this|‹[\d.]+›|\w+)\.page$/, 'page');
}

function isPage(text: string): boolean {
  return /(?:^|\.)(?:\w*[pP]age|frame|popup)$/.test(text);
}

function locatorCall(selector: SyntaxNode): SyntaxNode {
  const { start, end } = selector;
  const callee = memberNode({ type: 'Identifier', name: 'page', start, end }, 'locator');
  return { type: 'CallExpression', callee, arguments: [selector], start, end };
}

function timeoutIn(options: readonly string[]): number | null {
  const found = options.find((one) => one.startsWith('timeout: '));
  return found ? amountOf(found.slice('timeout: '.length)) : null;
}
