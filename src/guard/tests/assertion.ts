import { type PrintContext, printCode } from '../code/print.js';
import type { Scope } from '../code/scope.js';
import type { Located, Sources } from '../code/sources.js';
import { bare, isFunction, nameOf, nodeIn, nodesIn, propertyOf, type SyntaxNode } from '../code/syntax.js';
import { originOf } from '../code/test-object.js';
import type { AssertionStep } from './step.js';

/** An assertion as far as its own expression says it. */
export type BareAssertion = Omit<AssertionStep, 'file' | 'line' | 'source' | 'guards' | 'awaited'>;

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
  /** Where this `expect` comes from in the end: `playwright`, or what took its place. */
  readonly origin: string;
}

/** Takes an `expect` chain apart; null where the call is none. */
export function expectCall(node: SyntaxNode, scope: Scope, sources: Sources): ExpectCall | null {
  const callee = nodeIn(node, 'callee');
  const matcher = callee ? propertyOf(callee) : null;
  if (!callee || !matcher) return null;
  let negated = false;
  let at = nodeIn(callee, 'object');
  while (at && at.type === 'MemberExpression' && /^(?:not|resolves|rejects)$/.test(propertyOf(at) ?? '')) {
    if (propertyOf(at) === 'not') negated = !negated;
    at = nodeIn(at, 'object');
  }
  const root = at && bare(at);
  if (root?.type !== 'CallExpression') return null;
  const made = nodeIn(root, 'callee');
  const via = made?.type === 'MemberExpression' ? propertyOf(made) : '';
  const named = made?.type === 'MemberExpression' ? nodeIn(made, 'object') : made;
  if (!named || !isExpect(named) || (via !== '' && via !== 'soft' && via !== 'poll')) return null;
  const [subject = null, pollOptions = null] = nodesIn(root, 'arguments');
  const origin = originOf(named, { scope, sources, left: 10 });
  const optional = node['optional'] === true || callee['optional'] === true ? '?' : '';
  return {
    subject,
    matcher: matcher + optional,
    negated,
    via: via ?? '',
    args: nodesIn(node, 'arguments'),
    pollOptions,
    origin,
  };
}

function isExpect(node: SyntaxNode | null): boolean {
  if (!node) return false;
  if (node.type === 'CallExpression') return isExpect(nodeIn(nodeIn(node, 'callee') ?? node, 'object'));
  return /^(?:\w*[eE]xpect|assert)$/.test(nameOf(node) ?? '');
}

/** Reads an assertion in one spelling: `expect(await x.textContent()).toBe(t)` is `toHaveText(t)`, only stricter. */
export function readAssertion(call: ExpectCall, scope: Scope, at: PrintContext): BareAssertion {
  const { args, via, pollOptions } = call;
  const { sources } = at;
  const subjectNode = call.subject && (via === 'poll' ? polledValue(call.subject) : call.subject);
  const subject = subjectNode ? printCode(subjectNode, scope, at) : { text: '', locators: [] };
  const last = args.at(-1);
  const optionsNode = last && takesOptions(call) ? sources.resolve(last, scope) : null;
  const hasOptions = optionsNode?.node.type === 'ObjectExpression';
  const expected = (hasOptions ? args.slice(0, -1) : args).map((one) => printCode(one, scope, at));
  const options = hasOptions ? optionTexts(optionsNode, at) : [];
  const polled = pollOptions ? optionTexts(sources.resolve(pollOptions, scope), at) : [];
  const timeout = [...options, ...polled].find((one) => one.startsWith('timeout: '));
  const flipped = options.some((one) =>
    /^(?:visible|checked|attached|enabled|editable|hidden): false$/.test(one),
  );
  const form = webFirst({
    text: subject.text,
    matcher: call.matcher,
    expected: expected.map((one) => one.text),
    negated: call.negated !== flipped,
  });
  return {
    kind: 'assertion',
    subject: form.text,
    matcher: form.matcher,
    negated: form.negated,
    expected: form.expected.join(', '),
    soft: via === 'soft',
    polled: via === 'poll',
    options: options.filter(
      (one) => !/^(?:timeout|intervals|message|visible|checked|attached|enabled|editable): /.test(one),
    ),
    locators: [...subject.locators, ...expected.flatMap((one) => one.locators)],
    timeoutMs: timeout ? amountOf(timeout.slice('timeout: '.length)) : null,
    origin: call.origin,
  };
}

function takesOptions({ matcher, args }: ExpectCall): boolean {
  return /^toBe(?:Visible|Hidden|Attached|Checked|Enabled|Disabled|Editable|Empty|Focused|InViewport|OK)$|^toPass$/.test(
    matcher,
  )
    ? args.length > 0
    : args.length > 1 || /^to(?:HaveScreenshot|MatchSnapshot|MatchAriaSnapshot)$/.test(matcher);
}

function polledValue(node: SyntaxNode): SyntaxNode {
  const body = isFunction(node) ? nodeIn(node, 'body') : null;
  if (!body || body.type !== 'BlockStatement') return body ?? node;
  const last = nodesIn(body, 'body').at(-1);
  return (last?.type === 'ReturnStatement' && nodeIn(last, 'argument')) || node;
}

/** `key: value` of each property of an object literal. */
export function optionTexts({ node, scope }: Located, at: PrintContext): string[] {
  return nodesIn(node, 'properties').map((one) => printCode(one, scope, at).text);
}

/** A number of milliseconds, `Infinity` for 0 (no limit) and for what is not a number. */
export function amountOf(text: string): number {
  const amount = Number(text);
  return Number.isFinite(amount) && amount > 0 ? amount : Infinity;
}

interface Form {
  readonly text: string;
  readonly matcher: string;
  readonly negated: boolean;
  readonly expected: readonly string[];
}

/** What a read of the page and a plain matcher together assert, as the matcher that waits. */
const readers: readonly (readonly [RegExp, Readonly<Record<string, string>>])[] = [
  [/\.(?:textContent|innerText)\(\)$/, { same: 'toHaveText', part: 'toContainText' }],
  [/\.inputValue\(\)$/, { same: 'toHaveValue' }],
  [/\.count\(\)$/, { same: 'toHaveCount' }],
  [/\.url\(\)$/, { same: 'toHaveURL' }],
  [/\.title\(\)$/, { same: 'toHaveTitle' }],
  [/\.ok\(\)$/, { truth: 'toBeOK' }],
  [/\.isVisible\(\)$/, { truth: 'toBeVisible' }],
  [/\.isHidden\(\)$/, { truth: 'toBeHidden' }],
  [/\.isChecked\(\)$/, { truth: 'toBeChecked' }],
  [/\.isEnabled\(\)$/, { truth: 'toBeEnabled' }],
  [/\.isDisabled\(\)$/, { truth: 'toBeDisabled' }],
];

function webFirst(form: Form): Form {
  return positive(plainRead(form));
}

function plainRead(form: Form): Form {
  const { text, matcher, expected } = form;
  const found = readers.find(([pattern]) => pattern.test(text));
  if (!found) return form;
  const [pattern, names] = found;
  const subject = (names['truth'] === 'toBeOK' ? text : text.replace(/^await /, '')).replace(pattern, '');
  const same =
    names['same'] && /^to(?:Be|Equal|StrictEqual|HaveLength)$/.test(matcher) ? names['same'] : null;
  const part = names['part'] && matcher === 'toContain' ? names['part'] : null;
  if (same ?? part) return { ...form, text: subject, matcher: same ?? part ?? '' };
  if (!names['truth']) return form;
  const [only = ''] = expected;
  const isTrue =
    matcher === 'toBeTruthy' || (/^to(?:Be|Equal|StrictEqual)$/.test(matcher) && only === 'true');
  const isFalse =
    matcher === 'toBeFalsy' || (/^to(?:Be|Equal|StrictEqual)$/.test(matcher) && only === 'false');
  if (!isTrue && !isFalse) return form;
  return { text: subject, matcher: names['truth'], negated: form.negated !== isFalse, expected: [] };
}

/** `toBeHidden` is `not.toBeVisible`, `toBeDisabled` is `not.toBeEnabled`, and so on. */
const opposites: Readonly<Record<string, string>> = {
  toBeHidden: 'toBeVisible',
  toBeDisabled: 'toBeEnabled',
};

function positive(form: Form): Form {
  const opposite = opposites[form.matcher];
  if (opposite) return { ...form, matcher: opposite, negated: !form.negated };
  if (form.matcher === 'toHaveCount' && form.expected[0] === '0' && form.text === '‹locator›') {
    return { ...form, matcher: 'toBeAttached', expected: [], negated: !form.negated };
  }
  return form;
}
