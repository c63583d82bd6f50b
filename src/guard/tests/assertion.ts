import { bare, calleeOf, nameOf, propertyOf } from '../../code/expressions.js';
import { spell } from '../../code/locator.js';
import { printCode, type PrintPlace } from '../../code/print.js';
import type { Scope } from '../../code/scope.js';
import { resolve } from '../../code/sources.js';
import { nodeIn, nodesIn, type SyntaxNode } from '../../code/syntax.js';
import { originOf } from '../../code/test-object.js';
import type { BareAssertion } from './step.js';

/** The parts of `expect(subject).not.matcher(args)`. */
export interface ExpectCall {
  readonly subject: SyntaxNode | null;
  readonly matcher: string;
  readonly negated: boolean;
  /** `soft`, `poll`, or empty. */
  readonly via: string;
  readonly args: readonly SyntaxNode[];
  /** The options of `expect.poll`. */
  readonly pollOptions: SyntaxNode | null;
  /** Where this `expect` ultimately comes from: `playwright`, or the code that replaced it. */
  readonly origin: string;
}

/** Parses an `expect` chain; null if the call is not one. */
export function expectCall(node: SyntaxNode, scope: Scope): ExpectCall | null {
  const names: string[] = [];
  let at = nodeIn(node, 'callee');
  for (; at?.type === 'MemberExpression'; at = nodeIn(at, 'object')) names.unshift(propertyOf(at) ?? '?');
  const matcher = names.pop();
  const root = at && bare(at);
  const made = calleeOf(root);
  const via = propertyOf(made) ?? '';
  const named = made?.type === 'MemberExpression' ? nodeIn(made, 'object') : made;
  if (!matcher || !named || !isExpect(named) || !/^(?:soft|poll|)$/.test(via)) return null;
  if (!names.every((one) => /^(?:not|resolves|rejects)$/.test(one))) return null;
  const [subject = null, pollOptions = null] = nodesIn(root, 'arguments');
  const isOptional = node['optional'] === true || nodeIn(node, 'callee')?.['optional'] === true;
  return {
    subject,
    matcher: isOptional ? `${matcher}?` : matcher,
    negated: names.filter((one) => one === 'not').length % 2 === 1,
    via,
    args: nodesIn(node, 'arguments'),
    pollOptions,
    origin: originOf(named, scope),
  };
}

function isExpect(node: SyntaxNode | null): boolean {
  const configured = nodeIn(calleeOf(node), 'object');
  return configured ? isExpect(configured) : /^(?:\w*[eE]xpect|assert)$/.test(nameOf(node) ?? '');
}

const opposite = /^(?:visible|checked|attached|enabled|editable|hidden): false$/;
/** Options that have fields of their own in a step, or change nothing. */
const usual = /^(?:timeout|intervals|message|visible|checked|attached|enabled|editable): /;

/** Reads an assertion in canonical form: `expect(await x.textContent()).toBe(t)` is read as `expect(x).toHaveText(t)`. */
export function readAssertion(call: ExpectCall, at: PrintPlace): BareAssertion {
  const { args, via } = call;
  const print = (node: SyntaxNode) => printCode(node, at);
  const subject = call.subject ? print(call.subject) : { text: '', locators: [] };
  // The polled subject is what the function returns.
  const asked = via === 'poll' ? subject.text.replace(/^=> /, '') : subject.text;
  const own = takesOptions(call) ? optionsIn(args.at(-1), at) : null;
  const expected = (own ? args.slice(0, -1) : args).map(print);
  const parts = call.matcher === 'toMatchObject' ? optionsIn(args[0], at) : null;
  const options = own ?? [];
  const negated = call.negated !== options.some((one) => opposite.test(one));
  const value = expected.map((one) => one.text).join(', ');
  const form = positive(webFirst({ subject: asked, matcher: call.matcher, expected: value, negated }));
  return {
    kind: 'assertion',
    ...form,
    ...(parts ? { parts } : {}),
    soft: via === 'soft',
    polled: via === 'poll',
    options: options.filter((one) => !usual.test(one)),
    locators: [...subject.locators, ...expected.flatMap((one) => one.locators)],
    timeoutMs: timeoutIn([...options, ...(optionsIn(call.pollOptions, at) ?? [])]),
    origin: call.origin,
  };
}

function takesOptions({ matcher, args }: ExpectCall): boolean {
  const withoutValue =
    /^toBe(?:Visible|Hidden|Attached|Checked|Enabled|Disabled|Editable|Empty|Focused|InViewport|OK)$|^toPass$|^to(?:HaveScreenshot|MatchSnapshot|MatchAriaSnapshot)$/;
  return args.length > (withoutValue.test(matcher) ? 0 : 1);
}

/** Returns `key: value` for each property of an object literal; null for any other expression. */
export function optionsIn(given: SyntaxNode | null | undefined, at: PrintPlace): string[] | null {
  const found = given ? resolve(given, at.scope) : null;
  if (found?.node.type !== 'ObjectExpression') return null;
  return nodesIn(found.node, 'properties').map((one) => {
    const { text, locators } = printCode(one, { ...at, scope: found.scope });
    return spell(text, locators);
  });
}

/** Returns the `timeout` that these options set, in milliseconds; null if they set none. */
export function timeoutIn(options: readonly string[]): number | null {
  const found = options.find((one) => one.startsWith('timeout: '));
  return found ? amountOf(found.slice('timeout: '.length)) : null;
}

/** Parses a number of milliseconds; `Infinity` for 0 (no limit) and for what is not a positive number. */
export function amountOf(text: string): number {
  const amount = Number(text);
  return Number.isFinite(amount) && amount > 0 ? amount : Infinity;
}

type Form = Pick<BareAssertion, 'subject' | 'matcher' | 'negated' | 'expected'>;

/** Reads of the page, with the web-first matchers that assert the same as an equality, or as `toContain`, on the value read. */
const reads: readonly (readonly [RegExp, same: string, part?: string])[] = [
  [/\.(?:textContent|innerText)\(\)$/, 'toHaveText', 'toContainText'],
  [/\.inputValue\(\)$/, 'toHaveValue'],
  [/\.(?:allTextContents|allInnerTexts)\(\)$/, 'toHaveText'],
  [/\.count\(\)$/, 'toHaveCount'],
  [/\.url\(\)$/, 'toHaveURL', 'toHaveURL'],
  [/\.title\(\)$/, 'toHaveTitle'],
];

function webFirst(form: Form): Form {
  const { matcher, expected } = form;
  const isSame = /^to(?:Be|Equal|StrictEqual|HaveLength)$/.test(matcher);
  const [pattern, same, part] = reads.find(([one]) => one.test(form.subject)) ?? [];
  const waiting = isSame ? same : matcher === 'toContain' ? part : null;
  if (pattern && waiting) {
    const subject = form.subject.replace(/^await /, '').replace(pattern, '');
    const isPart = !isSame && waiting === same;
    return { ...form, subject, matcher: waiting, expected: isPart ? patternOf(expected) : expected };
  }
  const [asked, state] = /\.(?:is(Visible|Hidden|Checked|Enabled|Disabled)|ok)\(\)$/.exec(form.subject) ?? [];
  const truth = isSame ? expected : { toBeTruthy: 'true', toBeFalsy: 'false' }[matcher];
  if (asked === undefined || !/^(?:true|false)$/.test(truth ?? '')) return form;
  const subject = state ? form.subject.replace(/^await /, '') : form.subject;
  return {
    subject: subject.slice(0, -asked.length),
    matcher: `toBe${state ?? 'OK'}`,
    negated: form.negated !== (truth === 'false'),
    expected: '',
  };
}

/** Turns a printed string into a regular expression that finds just this text; returns other code unchanged. */
function patternOf(expected: string): string {
  const text = /^".*"$/.test(expected) ? (JSON.parse(expected) as string) : null;
  return text === null ? expected : `/${text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)}/`;
}

/** Rewrites `toBeHidden` to `not.toBeVisible`, `toBeDisabled` to `not.toBeEnabled`, and a count of 0 to `not.toBeAttached`. */
function positive(form: Form): Form {
  const { matcher, expected, negated } = form;
  const isNone = matcher === 'toHaveCount' && expected === '0' && form.subject === '‹locator›';
  const opposite = { toBeHidden: 'toBeVisible', toBeDisabled: 'toBeEnabled' }[matcher];
  if (!isNone && !opposite) return form;
  return {
    ...form,
    matcher: opposite ?? 'toBeAttached',
    expected: isNone ? '' : expected,
    negated: !negated,
  };
}
