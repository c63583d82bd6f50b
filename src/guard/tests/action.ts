import { nameOf, propertyOf } from '../../code/expressions.js';
import { type LocatorText, readBySelector } from '../../code/locator.js';
import { printCode, type PrintPlace } from '../../code/print.js';
import { lookUp } from '../../code/scope.js';
import { nodeIn, nodesIn, type SyntaxNode } from '../../code/syntax.js';
import { isOfTest } from '../../code/test-object.js';
import { amountOf, optionsIn, timeoutIn } from './assertion.js';
import { callKind, ownOption, sameVerb } from './calls.js';
import type { BareAction, BareAssertion } from './step.js';

/** Reads a call that does something, or waits for it; null if it only reads. */
export function stepOf(node: SyntaxNode, at: PrintPlace): BareAction | BareAssertion | null {
  const parts = callParts(node, at);
  return waitOf(parts) ?? actionOf(parts);
}

function actionOf({ name, isTests, receiver, data, options, locators }: CallParts): BareAction | null {
  const found = callKind(name);
  if (!found) return null;
  const isOption = /^(?:run-option|test-modifier)$/.test(found.rule);
  const isExpect = /^expect\b/i.test(receiver);
  const isInfo = /info$|^‹[\d.]*1›$|^$/i.test(receiver) && found.rule === 'test-modifier';
  // A fixture calls `use` to hand over its value; `test.use` sets options.
  const isOther = isOption && !isTests && !isInfo && !isExpect;
  const { kind, rule } = isOther ? ({ kind: 'action', rule: 'step-added' } as const) : found;
  const isLimit = kind === 'limit';
  const types = typing.test(name) ? textIn(data.at(-1) ?? '') : undefined;
  return {
    kind,
    rule: isExpect && isOption ? 'expect-replaced' : rule,
    verb: sameVerb[name] ?? name,
    data: isLimit ? receiver : [receiver, ...data].join(', '),
    forced: options.some((one) => one === 'force: true' || one === 'trial: true'),
    locators,
    timeoutMs: isLimit ? amountOf(data[0] ?? '') : timeoutIn(options),
    ...(types === undefined ? {} : { types }),
  };
}

/** Calls that give the app a text of the test's choice, not one of several that the page offers. */
const typing = /^(?:fill|type|pressSequentially|insertText)$/;

function textIn(printed: string): string | undefined {
  return /^"(?:[^"\\]|\\.)*"$/.test(printed) ? (JSON.parse(printed) as string) : undefined;
}

/** Reads a wait for a state as an assertion of that state; null for any other call. */
function waitOf({ name, locators, options, data }: CallParts): BareAssertion | null {
  const plain = { kind: 'assertion', soft: false, polled: false, options: [], origin: 'playwright' } as const;
  const base = { ...plain, locators, timeoutMs: timeoutIn(options) };
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
  /** Whether it is called on Playwright's `test`. */
  readonly isTests: boolean;
  readonly receiver: string;
  readonly data: readonly string[];
  /** `key: value` of the last argument, if it is an options object. */
  readonly options: readonly string[];
  readonly locators: readonly LocatorText[];
}

function callParts(given: SyntaxNode, at: PrintPlace): CallParts {
  const print = (one: SyntaxNode) => printCode(one, at);
  const node = readBySelector(given, (one) => optionsIn(one, at) !== null);
  const callee = nodeIn(node, 'callee') ?? node;
  const name = propertyOf(callee) ?? nameOf(callee) ?? '';
  const object = callee.type === 'MemberExpression' ? nodeIn(callee, 'object') : null;
  const isTests = isOfTest(object, at.scope);
  // The origin of `test` is recorded with each test. Of other plain names, only declared and imported ones are printed, with their origin.
  const isKnown = isTests || (!object && nameOf(callee) !== null && !lookUp(name, at.scope));
  const of = isKnown ? { text: isTests ? 'test' : '', locators: [] } : print(object ?? callee);
  const args = nodesIn(node, 'arguments');
  const options = optionsIn(args.at(-1), at);
  const printed = (options ? args.slice(0, -1) : args).map(print);
  return {
    name,
    isTests,
    receiver: of.text.replace(/^(?:this|‹[\d.]+›|\w+)\.page$/, 'page'),
    data: [...printed.map((one) => one.text), ...(options ?? []).filter((one) => !ownOption.test(one))],
    options: options ?? [],
    locators: [...of.locators, ...printed.flatMap((one) => one.locators)],
  };
}
