import { locatorCall, type LocatorText } from '../../code/locator.js';
import { type PrintContext, printCode, type PrintedCode } from '../../code/print.js';
import { lookUp, type Scope } from '../../code/scope.js';
import { nameOf, nodeIn, nodesIn, propertyOf, type SyntaxNode } from '../../code/syntax.js';
import { amountOf, type BareAssertion, optionsIn, timeoutIn } from './assertion.js';
import { callKind, ownOption, sameVerb, selectorFirst } from './calls.js';
import type { ActionStep } from './step.js';

/** Where a call stands. */
interface At extends PrintContext {
  readonly scope: Scope;
  /** It is called on Playwright's `test`. */
  readonly isTests: boolean;
}

type BareAction = Omit<ActionStep, 'file' | 'line' | 'source' | 'guards' | 'awaited'>;

/** Reads a call that does something; null for one that only reads. */
export function actionOf(node: SyntaxNode, at: At): BareAction | null {
  const { name, receiver, data, options, locators } = callParts(node, at);
  const found = callKind(name);
  if (!found) return null;
  const isOption = /^(?:run-option|test-modifier)$/.test(found.rule);
  const isExpect = /^expect\b/i.test(receiver);
  const isInfo = /info$|^‹[\d.]*1›$|^$/i.test(receiver) && found.rule === 'test-modifier';
  // `use` of a fixture hands over its value; that of a test sets its options.
  const isOther = isOption && !at.isTests && !isInfo && !isExpect;
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

/** Calls that give the app a text of the test's own choice, not one of a few that the page offers. */
const typing = /^(?:fill|type|pressSequentially|insertText)$/;

function textIn(printed: string): string | undefined {
  return /^"(?:[^"\\]|\\.)*"$/.test(printed) ? (JSON.parse(printed) as string) : undefined;
}

/** A wait for a state is the assertion of that state. */
export function waitOf(node: SyntaxNode, at: At): BareAssertion | null {
  const { name, locators, options, data } = callParts(node, at);
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
  readonly receiver: string;
  readonly data: readonly string[];
  /** `key: value` of the last argument, if it is an options object. */
  readonly options: readonly string[];
  readonly locators: readonly LocatorText[];
}

function callParts(node: SyntaxNode, at: At): CallParts {
  const print = (one: SyntaxNode) => printCode(one, at.scope, at);
  const callee = nodeIn(node, 'callee') ?? node;
  const name = propertyOf(callee) ?? nameOf(callee) ?? '';
  const object = callee.type === 'MemberExpression' ? nodeIn(callee, 'object') : null;
  // Which `test` it is stands with the test itself; a local name of its own has to be known, from wherever it comes.
  const isKnown = !object && nameOf(callee) !== null && !lookUp(name, at.scope);
  const of = at.isTests
    ? { text: 'test', locators: [] }
    : isKnown
      ? { text: '', locators: [] }
      : print(object ?? callee);
  const args = nodesIn(node, 'arguments');
  const [selector] = args;
  const bySelector = isBySelector(name, of, () => args.map(print)) ? selector : undefined;
  const looked = bySelector && object ? print(locatorCall(object, bySelector)).locators : [];
  const rest = bySelector ? args.slice(1) : args;
  const options = optionsIn(rest.at(-1), at.scope, at);
  const printed = (options ? rest.slice(0, -1) : rest).map(print);
  return {
    name,
    receiver: bySelector ? '‹locator›' : of.text.replace(/^(?:this|‹[\d.]+›|\w+)\.page$/, 'page'),
    data: [...printed.map((one) => one.text), ...(options ?? []).filter((one) => !ownOption.test(one))],
    options: options ?? [],
    locators: [...of.locators, ...looked, ...printed.flatMap((one) => one.locators)],
  };
}

/** A page takes a selector first, whatever it is called; a locator only the value or the options. */
function isBySelector(name: string, of: PrintedCode, printed: () => readonly PrintedCode[]): boolean {
  if (!selectorFirst.test(name) || of.locators.length > 0) return false;
  const [first, second] = printed();
  const takesValue = /^(?:fill|type|press|selectOption|setInputFiles|setChecked)$/.test(name);
  const next = takesValue ? second : first;
  return next !== undefined && !/^\{.*\}$/s.test(next.text);
}
