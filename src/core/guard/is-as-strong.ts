import type { ActionStep, AssertionStep, LocatorText, Step } from './outline.js';

/** Playwright's own default for `expect`, in milliseconds: the limit of an assertion that names none. */
const EXPECT_TIMEOUT_MS = 5000;
/** An action without a limit of its own has the test's, 30 s by default. */
const ACTION_TIMEOUT_MS = 30_000;

/** Whether a step of the changed test checks at least what the step before did; a locator may be another one (HN-4). */
export function isAsStrong(before: Step, after: Step): boolean {
  return weaknesses(before, after).length === 0;
}

/** A way in which a step is weaker than before: the rule's name and what it says. */
export interface Weakness {
  readonly rule: string;
  readonly says: string;
}

/** All ways in which `after` is weaker than `before`; empty where it is as strong. */
export function weaknesses(before: Step, after: Step): Weakness[] {
  if (before.kind === 'assertion') {
    return after.kind === 'assertion'
      ? [...assertionWeaknesses(before, after), ...sharedWeaknesses(before, after)]
      : [{ rule: 'assertion-removed', says: 'an assertion is gone' }];
  }
  if (after.kind === 'assertion') return [{ rule: 'step-removed', says: 'a step of the test is gone' }];
  return [...actionWeaknesses(before, after), ...sharedWeaknesses(before, after)];
}

function assertionWeaknesses(before: AssertionStep, after: AssertionStep): Weakness[] {
  const found: Weakness[] = [];
  const add = (is: boolean, rule: string, says: string) => {
    if (is) found.push({ rule, says });
  };
  add(before.negated !== after.negated, 'assertion-inverted', 'the assertion says the opposite now');
  add(before.subject !== after.subject, 'subject-changed', 'the assertion looks at something else now');
  add(!isMatcherKept(before, after), 'matcher-loosened', `${before.matcher} became ${after.matcher}`);
  add(
    !isExpectedKept(before, after),
    'expected-changed',
    `the expected value changed from ${before.expected || 'none'} to ${after.expected || 'none'}`,
  );
  add(after.soft && !before.soft, 'assertion-soft', 'expect.soft lets the test go on after it failed');
  add(
    after.polled && !before.polled,
    'assertion-polled',
    'what was checked once is polled now until it fits',
  );
  add(
    after.options.some((one) => !before.options.includes(one)),
    'options-loosened',
    `options were added: ${after.options.join(', ')}`,
  );
  found.push(...locatorWeaknesses(before, after));
  return found;
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
  return before.expected === after.expected || (before.expected === '' && isImplied(before, after));
}

/** A locator that is asserted to be there is an expectation of its texts; one that matches anything asserts nothing. */
function locatorWeaknesses(before: AssertionStep, after: AssertionStep): Weakness[] {
  const found: Weakness[] = [];
  const presence = /^toBe(?:Visible|Attached|InViewport)$|^toHaveCount$/.test(before.matcher);
  before.locators.forEach((old, index) => {
    const now = after.locators[index];
    if (!now || now.code === old.code) return;
    if (now.anything && !old.anything)
      found.push({ rule: 'locator-matches-anything', says: `${now.code} is there on any page` });
    if (now.alternatives > old.alternatives)
      found.push({ rule: 'locator-loosened', says: 'the locator got an alternative with or()' });
    if (presence && !keepsTexts(old, now))
      found.push({
        rule: 'expected-text-changed',
        says: `the text that has to be there changed: ${old.code} became ${now.code}`,
      });
  });
  return found;
}

function keepsTexts(old: LocatorText, now: LocatorText): boolean {
  return old.texts.every((text) => now.texts.includes(text));
}

function actionWeaknesses(before: ActionStep, after: ActionStep): Weakness[] {
  const found: Weakness[] = [];
  if (before.verb !== after.verb || before.data !== after.data) {
    found.push({ rule: 'step-changed', says: 'the test does something else now: only a locator may change' });
  }
  if (after.forced && !before.forced) {
    found.push({ rule: 'action-forced', says: 'force does what a visitor could not do' });
  }
  before.locators.forEach((old, index) => {
    const now = after.locators[index];
    if (now?.anything && !old.anything)
      found.push({ rule: 'locator-matches-anything', says: `${now.code} is there on any page` });
  });
  return found;
}

function sharedWeaknesses(before: Step, after: Step): Weakness[] {
  const found: Weakness[] = [];
  const guards = after.guards.filter((guard) => !before.guards.includes(guard));
  for (const guard of new Set(guards)) found.push(guardWeakness(guard));
  if (before.awaited && !after.awaited)
    found.push({ rule: 'not-awaited', says: 'nobody waits for it, so it cannot fail the test' });
  const usual = before.kind === 'assertion' ? EXPECT_TIMEOUT_MS : ACTION_TIMEOUT_MS;
  if (after.timeoutMs !== null && after.timeoutMs > (before.timeoutMs ?? usual)) {
    found.push({ rule: 'timeout-raised', says: 'its time-out was raised' });
  }
  return found;
}

function guardWeakness(guard: string): Weakness {
  if (guard === 'errors are caught')
    return { rule: 'error-swallowed', says: 'its error is caught, so it cannot fail the test' };
  if (guard.startsWith('tried again'))
    return { rule: 'assertion-polled', says: 'it is tried again until it passes' };
  if (guard.startsWith('unless '))
    return { rule: 'early-return', says: `the test may end before it (${guard})` };
  if (guard === 'nobody waits for it')
    return { rule: 'not-awaited', says: 'nobody waits for it, so it cannot fail the test' };
  return { rule: 'made-conditional', says: `it is not always reached now (${guard})` };
}
