import type { LocatorText } from '../code/locator.js';
import type { Rule } from '../rules.js';
import type { ActionStep, AssertionStep, Step } from './step.js';

/** Playwright's own default for `expect`, in milliseconds: the limit of an assertion that names none. */
const EXPECT_TIMEOUT_MS = 5000;
/** An action without a limit of its own has the test's, 30 s by default. */
const ACTION_TIMEOUT_MS = 30_000;

/** A way in which a step is weaker than before, or another one. */
export interface Weakness {
  readonly rule: Rule;
  readonly detail?: string;
}

/** Whether a step of the changed test checks at least what the step before did; a locator may be another one (HN-4). */
export function isAsStrong(before: Step, after: Step): boolean {
  return identity(before) === identity(after) || weaknesses(before, after).length === 0;
}

const identities = new WeakMap<Step, string>();

/** Two steps of the same identity are the same, wherever they stand. */
export function identity(step: Step): string {
  const known = identities.get(step);
  if (known !== undefined) return known;
  const text = JSON.stringify({ ...step, file: '', line: 0, source: '' });
  identities.set(step, text);
  return text;
}

/** All ways in which `after` is weaker than `before`; empty where it is as strong. */
export function weaknesses(before: Step, after: Step): Weakness[] {
  if (before.kind === 'assertion') {
    return after.kind === 'assertion'
      ? [...assertionWeaknesses(before, after), ...sharedWeaknesses(before, after)]
      : [{ rule: 'assertion-removed' }];
  }
  if (after.kind === 'assertion') return [{ rule: 'step-removed' }];
  return [...actionWeaknesses(before, after), ...sharedWeaknesses(before, after)];
}

function assertionWeaknesses(before: AssertionStep, after: AssertionStep): Weakness[] {
  const added = after.options.filter((one) => !before.options.includes(one));
  const checks: readonly (readonly [boolean, Rule, string?])[] = [
    [before.negated !== after.negated, 'assertion-inverted'],
    [before.subject !== after.subject, 'subject-changed'],
    [!isMatcherKept(before, after), 'matcher-loosened', `${before.matcher} became ${after.matcher}`],
    [
      !isExpectedKept(before, after),
      'expected-changed',
      `from ${before.expected || 'none'} to ${after.expected || 'none'}`,
    ],
    [after.soft && !before.soft, 'assertion-soft'],
    [after.polled && !before.polled, 'assertion-polled'],
    [after.origin !== before.origin && after.origin !== 'playwright', 'expect-replaced', after.origin],
    [added.some((one) => !/: false$|^useInnerText: /.test(one)), 'options-loosened', added.join(', ')],
  ];
  const found = checks.flatMap(([is, rule, detail]) => (is ? [detail ? { rule, detail } : { rule }] : []));
  return [...found, ...locatorWeaknesses(before, after)];
}

/** Matchers that check more than another one does, with the same arguments. */
const stricter: Readonly<Record<string, readonly string[]>> = {
  toContainText: ['toHaveText'],
  toBeAttached: ['toBeVisible', 'toBeInViewport'],
  toBeVisible: ['toBeInViewport'],
  toEqual: ['toStrictEqual', 'toBe'],
  toMatchObject: ['toEqual', 'toStrictEqual'],
  toContain: ['toBe', 'toEqual'],
};

/** Matchers without an argument that any of these, with one, imply. */
const implied: Readonly<Record<string, readonly string[]>> = {
  toBeVisible: [],
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

/** What contains the longer text contains the shorter one too. */
function isLongerText(before: AssertionStep, after: AssertionStep): boolean {
  const [old, now] = [before, after].map(({ expected }) => /^(?:template )?"(.*)"$/.exec(expected)?.[1]);
  return before.matcher === 'toContainText' && old !== undefined && (now ?? '').includes(old);
}

/** A locator that is asserted to be there is an expectation of its texts; one that matches anything asserts nothing. */
function locatorWeaknesses(before: AssertionStep, after: AssertionStep): Weakness[] {
  const presence = /^toBe(?:Visible|Attached|InViewport)$|^toHaveCount$/.test(before.matcher);
  const found = sameLocators(before, after);
  before.locators.forEach((old, index) => {
    const now = after.locators[index];
    if (!now || now.code === old.code) return;
    if (presence && !old.texts.every((text) => now.texts.includes(text)))
      found.push({ rule: 'expected-text-changed', detail: `${old.code} became ${now.code}` });
    const asserted = /^"(.{2,})"$/.exec(after.expected)?.[1];
    if (
      asserted &&
      now.texts.some((text) => text.includes(asserted)) &&
      !old.texts.some((text) => text.includes(asserted))
    )
      found.push({ rule: 'locator-by-expected-text', detail: now.code });
  });
  return found;
}

function sameLocators(before: Step, after: Step): Weakness[] {
  const found: Weakness[] = [];
  before.locators.forEach((old, index) => {
    const now: LocatorText | undefined = after.locators[index];
    if (!now || now.code === old.code) {
      if (now && now.root !== old.root)
        found.push({ rule: 'subject-changed', detail: `it is looked for in ${now.root || 'the page'}` });
      return;
    }
    if (now.root !== old.root)
      found.push({ rule: 'subject-changed', detail: `it is looked for in ${now.root || 'the page'}` });
    if (now.anything && !old.anything) found.push({ rule: 'locator-matches-anything', detail: now.code });
    if (now.alternatives > old.alternatives) found.push({ rule: 'locator-loosened', detail: now.code });
  });
  return found;
}

function actionWeaknesses(before: ActionStep, after: ActionStep): Weakness[] {
  const found = sameLocators(before, after);
  if (before.kind !== after.kind || before.verb !== after.verb || before.data !== after.data)
    found.push({ rule: before.kind === 'restriction' ? before.rule : 'step-changed' });
  if (after.forced && !before.forced) found.push({ rule: 'action-forced' });
  return found;
}

function sharedWeaknesses(before: Step, after: Step): Weakness[] {
  const found = new Set<Rule>(
    after.guards.filter((guard) => !before.guards.includes(guard)).map((one) => one.split(' ')[0] as Rule),
  );
  // What was reached on a condition, or for each of some things, is another step where that is gone; an assertion that is always reached is stricter.
  const lost = before.guards.filter((guard) => !after.guards.includes(guard));
  const needed = before.kind === 'assertion' ? /^made-conditional (?!if)/ : /^made-conditional/;
  if (found.size === 0 && lost.some((guard) => needed.test(guard))) found.add('condition-changed');
  if (before.awaited && !after.awaited) found.add('not-awaited');
  const usual = before.kind === 'assertion' ? EXPECT_TIMEOUT_MS : ACTION_TIMEOUT_MS;
  if (after.timeoutMs !== null && after.timeoutMs > (before.timeoutMs ?? usual)) found.add('timeout-raised');
  return [...found].map((rule) => ({ rule }));
}
