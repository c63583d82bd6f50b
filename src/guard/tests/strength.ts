import { type LocatorText, numbersOf } from '../../code/locator.js';
import type { Rule } from '../rules.js';
import type { AssertionStep, Step } from './step.js';

/** Playwright's default time-out for `expect`, in milliseconds, for assertions that set none. */
const EXPECT_TIMEOUT_MS = 5000;
/** An action without a time-out of its own has the test's, 30 s by default. */
const ACTION_TIMEOUT_MS = 30_000;

/** Whether a step of the changed test checks at least as much as the old step. Its locator may differ (HN-4). */
export function isAsStrong(before: Step, after: Step): boolean {
  return identity(before) === identity(after) || weaknesses(before, after).length === 0;
}

const identities = new WeakMap<Step, string>();

/** Returns the identity of a step. Steps with the same identity are the same, wherever they are. */
export function identity(step: Step): string {
  const known = identities.get(step);
  if (known !== undefined) return known;
  const text = JSON.stringify({ ...step, file: '', line: 0, source: '' });
  identities.set(step, text);
  return text;
}

/** A way in which a step may be weaker than before, or a different one: whether it is, the rule that it breaks, and a detail. */
export type Way = readonly [is: boolean, rule: Rule, detail?: string];

/** Returns all ways in which `after` is weaker than `before`; empty if it is at least as strong. */
export function weaknesses(before: Step, after: Step): Way[] {
  const ways = [...ownWays(before, after), ...locatorWays(before, after), ...sharedWays(before, after)];
  return ways.filter(([is]) => is);
}

function ownWays(before: Step, after: Step): Way[] {
  if (before.kind === 'assertion')
    return after.kind === 'assertion' ? assertionWays(before, after) : [[true, 'assertion-removed']];
  if (after.kind === 'assertion') return [[true, 'step-removed']];
  const isOther = before.kind !== after.kind || before.verb !== after.verb || before.data !== after.data;
  return [
    [isOther, before.kind === 'restriction' ? before.rule : 'step-changed'],
    [after.forced && !before.forced, 'action-forced'],
  ];
}

function assertionWays(before: AssertionStep, after: AssertionStep): Way[] {
  const added = after.options.filter((one) => !before.options.includes(one));
  const change = `from ${before.expected || 'none'} to ${after.expected || 'none'}`;
  return [
    [before.negated !== after.negated, 'assertion-inverted'],
    [before.subject !== after.subject, 'subject-changed'],
    [!isMatcherKept(before, after), 'matcher-loosened', `${before.matcher} was changed to ${after.matcher}`],
    [!isExpectedKept(before, after), 'expected-changed', change],
    [after.soft && !before.soft, 'assertion-soft'],
    [after.polled && !before.polled, 'assertion-polled'],
    [after.origin !== before.origin && after.origin !== 'playwright', 'expect-replaced', after.origin],
    [added.some((one) => !/: false$|^useInnerText: /.test(one)), 'options-loosened', added.join(', ')],
  ];
}

/** For each matcher, those that check more with the same arguments. */
const stricter: Readonly<Record<string, readonly string[]>> = {
  toContainText: ['toHaveText'],
  toBeAttached: ['toBeVisible', 'toBeInViewport'],
  toBeVisible: ['toBeInViewport'],
  toEqual: ['toStrictEqual', 'toBe'],
  toMatchObject: ['toEqual', 'toStrictEqual'],
  toContain: ['toBe', 'toEqual'],
};

/** For each matcher without an argument, those that imply it if they have one. */
const implied: Readonly<Record<string, readonly string[]>> = {
  toBeAttached: ['toHaveText', 'toContainText', 'toHaveCount', 'toHaveValue'],
  toBeTruthy: ['toBe', 'toEqual', 'toStrictEqual'],
  toBeDefined: ['toBe', 'toEqual', 'toStrictEqual', 'toBeTruthy'],
};

function isMatcherKept(before: AssertionStep, after: AssertionStep): boolean {
  if (before.matcher === after.matcher) return true;
  if (before.negated) return false;
  return (stricter[before.matcher] ?? []).includes(after.matcher) || isImplied(before, after);
}

function isImplied(before: AssertionStep, after: AssertionStep): boolean {
  const vacuous = /^(?:"0"|0|""|null|undefined|false|)$/.test(after.expected);
  return !vacuous && (implied[before.matcher] ?? []).includes(after.matcher);
}

function isExpectedKept(before: AssertionStep, after: AssertionStep): boolean {
  if (before.expected === after.expected) return true;
  if (before.negated) return false;
  if (isLongerText(before, after)) return true;
  if (before.matcher === 'toMatchObject' && before.parts && after.parts)
    return before.parts.every((one) => after.parts?.includes(one));
  return before.expected === '' && isImplied(before, after);
}

/** Whether `toContainText` now expects a longer text that includes the old one. */
function isLongerText(before: AssertionStep, after: AssertionStep): boolean {
  const [old, now] = [before, after].map(({ expected }) => /^(?:template )?"(.*)"$/.exec(expected)?.[1]);
  return before.matcher === 'toContainText' && old !== undefined && (now ?? '').includes(old);
}

/** An assertion that a locator is present expects its texts, too. A locator that matches anything asserts nothing. */
function locatorWays(before: Step, after: Step): Way[] {
  const matcher = before.kind === 'assertion' ? before.matcher : '';
  const isPresence = /^toBe(?:Visible|Attached|InViewport)$|^toHaveCount$/.test(matcher);
  const asserted = after.kind === 'assertion' ? /^"(.{2,})"$/.exec(after.expected)?.[1] : undefined;
  const looksFor = (one: LocatorText) => one.texts.some((text) => asserted && text.includes(asserted));
  return before.locators.flatMap((old, index): Way[] => {
    const now = after.locators[index];
    if (!now || (now.code === old.code && now.root === old.root)) return [];
    const isMissing = old.texts.some((text) => !now.texts.includes(text));
    const [was = '', is = ''] = [old, now].map(({ texts }) => numbersOf(texts.join(' ')));
    const isCounted = was !== '' && is !== '' && was !== is;
    return [
      [now.root !== old.root, 'subject-changed', `it is now searched for in ${now.root || 'the page'}`],
      [now.anything && !old.anything, 'locator-matches-anything', now.code],
      [now.alternatives > old.alternatives, 'locator-loosened', now.code],
      [
        (isPresence && isMissing) || isCounted,
        'expected-text-changed',
        `${old.code} was changed to ${now.code}`,
      ],
      [looksFor(now) && !looksFor(old), 'locator-by-expected-text', now.code],
    ];
  });
}

function sharedWays(before: Step, after: Step): Way[] {
  const added = after.guards.filter((guard) => !before.guards.includes(guard));
  const lost = before.guards.filter((guard) => !after.guards.includes(guard));
  const isAssertion = before.kind === 'assertion';
  // A step that has lost its condition or its loop is a different step. An assertion that has only lost a condition is stricter.
  const needed = isAssertion ? /^made-conditional (?!if)/ : /^made-conditional/;
  const isFreed = added.length === 0 && lost.some((guard) => needed.test(guard));
  const usual = isAssertion ? EXPECT_TIMEOUT_MS : ACTION_TIMEOUT_MS;
  return [
    ...[...new Set(added.map((one) => one.split(' ')[0] as Rule))].map((rule) => [true, rule] as const),
    [isFreed, 'condition-changed'],
    [before.awaited && !after.awaited, 'not-awaited'],
    [(after.timeoutMs ?? 0) > (before.timeoutMs ?? usual), 'timeout-raised'],
  ];
}
