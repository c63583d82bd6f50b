import type { ActionStep } from '../../core/guard/outline.js';
import { printCode } from './print-code.js';
import { amountOf, type BareAssertion } from './read-assertion.js';
import type { Scope } from './scope.js';
import { nameOf, nodeIn, nodesIn, propertyOf, type SyntaxNode } from './syntax.js';
import type { TestSources } from './test-sources.js';

/** Where an expression stands. */
interface At {
  readonly scope: Scope;
  readonly sources: TestSources;
  readonly awaited: boolean;
}

/**
 * Calls that change nothing of what a test tests: reading, looking, waiting for time; and mocks, which may go, while a new
 * one is a mark.
 */
const reads =
  /^(?:getBy\w+|locator|frameLocator|filter|first|last|nth|and|or|contentFrame|owner|route|routeFromHAR|routeWebSocket|unroute|unrouteAll|addInitScript|exposeFunction|exposeBinding|textContent|innerText|innerHTML|inputValue|count|is[A-Z]\w*|all|allTextContents|allInnerTexts|getAttribute|url|title|content|screenshot|ariaSnapshot|boundingBox|waitForTimeout|waitForLoadState|scrollIntoViewIfNeeded|mouse|log|info|warn|error|push|attach|bringToFront|pause|highlight|json|text|body|ok|status|headers|all[A-Z]\w*)$/;

/** Whether a call only reads, so that a test may have one more or one less of it. */
export function isRead(name: string): boolean {
  return reads.test(name);
}

/** `page.click(selector)` and its kind: the first argument is a locator. */
const selectorFirst =
  /^(?:click|dblclick|fill|type|press|check|uncheck|setChecked|selectOption|hover|tap|focus|setInputFiles|waitForSelector)$/;

/** Two ways to do the same to a control that has become another one. */
const sameVerb: Readonly<Record<string, string>> = {
  tap: 'click',
  check: 'click',
  type: 'fill',
  pressSequentially: 'fill',
  selectOption: 'fill',
};

type Bare = Omit<ActionStep, 'file' | 'line' | 'source' | 'guards' | 'awaited'>;

/** Reads a call that does something; null for plain functions, which are only what their values are used for. */
export function actionOf(node: SyntaxNode, { scope, sources, awaited }: At): Bare | null {
  const parts = callParts(node, { scope, sources, awaited });
  if (!parts || (!awaited && !selectorFirst.test(parts.name))) return null;
  const verb = sameVerb[parts.name] ?? parts.name;
  return {
    kind: 'action',
    verb,
    data: [parts.receiver, ...parts.data].join(', '),
    forced: parts.options.some((one) => one === 'force: true' || one === 'trial: true'),
    locators: parts.locators,
    timeoutMs: timeoutIn(parts.options),
  };
}

/** A wait for a state is the assertion of that state. */
export function waitOf(node: SyntaxNode, at: At): BareAssertion | null {
  const parts = callParts(node, at);
  if (!parts) return null;
  const { name, locators, options, data } = parts;
  const base = {
    kind: 'assertion',
    soft: false,
    polled: false,
    options: [],
    locators,
    timeoutMs: timeoutIn(options),
  } as const;
  if (name === 'waitForURL') {
    return { ...base, subject: 'page', matcher: 'toHaveURL', negated: false, expected: data.join(', ') };
  }
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
  readonly locators: Bare['locators'];
}

function callParts(node: SyntaxNode, { scope, sources }: At): CallParts | null {
  const callee = nodeIn(node, 'callee');
  if (!callee) return null;
  const member = callee.type === 'MemberExpression' ? nodeIn(callee, 'object') : null;
  const name = propertyOf(callee) ?? nameOf(callee) ?? '';
  const receiver = member ? printCode(member, scope, sources) : { text: '', locators: [] };
  const args = nodesIn(node, 'arguments');
  const bySelector = selectorFirst.test(name) && isPage(receiver.text) && args.length > 0;
  const [selector] = bySelector ? args : [];
  const made = selector ? locatorCall(selector) : null;
  const looked = made ? printCode(made, scope, sources).locators : [];
  const rest = bySelector ? args.slice(1) : args;
  const last = rest.at(-1);
  const options = last ? optionsOf(last, { scope, sources }) : null;
  const printed = (options ? rest.slice(0, -1) : rest).map((one) => printCode(one, scope, sources));
  return {
    name,
    receiver: bySelector ? '‹locator›' : receiver.text.replace(/^(?:this|‹\d+›|\w+)\.page$/, 'page'),
    data: [...printed.map((one) => one.text), ...(options ?? []).filter((one) => !hasOwnField.test(one))],
    options: options ?? [],
    locators: [...receiver.locators, ...looked, ...printed.flatMap((one) => one.locators)],
  };
}

const hasOwnField = /^(?:timeout|force|trial|state|noWaitAfter|strict|delay|waitUntil|intervals|message): /;

function isPage(text: string): boolean {
  return /(?:^|\.)(?:\w*[pP]age|frame|popup)$/.test(text);
}

function locatorCall(selector: SyntaxNode): SyntaxNode {
  const at = { start: selector.start, end: selector.end };
  const callee = {
    type: 'MemberExpression',
    object: { type: 'Identifier', name: 'page', ...at },
    property: { type: 'Identifier', name: 'locator', ...at },
    computed: false,
    ...at,
  };
  return { type: 'CallExpression', callee, arguments: [selector], ...at };
}

/** The options of a call, where its last argument is a plain object of them. */
function optionsOf(last: SyntaxNode, { scope, sources }: Omit<At, 'awaited'>): string[] | null {
  const found = sources.resolve(last, scope);
  if (found.node.type !== 'ObjectExpression') return null;
  return nodesIn(found.node, 'properties').map((one) => {
    const value = nodeIn(one, 'value');
    return `${nameOf(nodeIn(one, 'key')) ?? one.type}: ${value ? printCode(value, found.scope, sources).text : ''}`;
  });
}

function timeoutIn(options: readonly string[]): number | null {
  const found = options.find((one) => one.startsWith('timeout: '));
  return found ? amountOf(found.slice('timeout: '.length)) : null;
}
