import type { Violation } from '../core/guard/violation.js';

/** Every rule of the guard, and what breaking it means, in words for the agent and the report. */
export const rules = {
  'protected-file': 'the file is out of an agent’s reach',
  'tests-read-only': 'the tests are read-only for this class of failure: fix the app',
  'cannot-be-judged': 'nobody can say what the tests check now',
  'link-changed': 'a link may stand for any file',
  'snapshot-changed': 'a snapshot is what the test expects',
  'test-data-changed': 'a file that the tests read was changed',
  'module-shadowed': 'it may be imported in the place of another module',
  'config-changed': 'the Playwright config was changed',
  'timeout-raised': 'a time-out was set or raised',
  'package-changed': 'how the tests are started, or by which Playwright, was changed',
  'environment-changed': 'a setting of the environment changes what the tests meet',
  'test-removed': 'a test is gone, or has another name',
  'test-emptied': 'the test does nothing now',
  'assertion-removed': 'an assertion is gone, or no longer reached',
  'assertion-inverted': 'the assertion says the opposite now',
  'assertion-soft': 'expect.soft lets the test go on after it failed',
  'assertion-polled': 'what was checked once is now retried until it matches',
  'matcher-loosened': 'the matcher checks less',
  'expected-changed': 'the expected value changed',
  'expected-text-changed': 'the expected text changed',
  'subject-changed': 'the assertion checks something else now',
  'options-loosened': 'options were added',
  'locator-matches-anything': 'the locator matches something on any page',
  'locator-loosened': 'the locator accepts an alternative',
  'locator-by-expected-text': 'the locator looks for the same text that is asserted',
  'locator-not-at-fault': 'the locator found its element in the red run, so it was not at fault',
  'absence-unproven':
    'a locator that may match nothing was changed, and nothing shows that the new one can match anything',
  'step-removed': 'a step of the test was removed, or is no longer reached',
  'step-changed': 'the test does something different now: only a locator may change',
  'step-added': 'the test does something that it did not do before',
  'sleep-added': 'it waits for a fixed time',
  'navigation-added': 'the test opens a page directly that the app should have led it to',
  'listener-added': 'the test reacts to something that it did not react to before',
  'action-forced': 'force does what a user could not do',
  'error-swallowed': 'its error is caught, so it cannot fail the test',
  'early-return': 'the test may end before it',
  'not-awaited': 'it is not awaited, so it cannot fail the test',
  'made-conditional': 'it is not always reached now',
  'condition-changed': 'when or how often it is reached was changed',
  'test-modifier': 'skip, fixme, fail, only and slow keep tests from running or from failing',
  'run-option': 'an option of the tests was changed',
  'mocked-route': 'a request is answered by the test instead of the app',
  'page-rewritten': 'the test changes the page by script',
  'process-ended': 'the test ends or listens to its own process',
  patched: 'something that the tests rely on is replaced',
  'expect-replaced': 'test or expect is no longer Playwright’s own, or is configured differently',
  'fixture-added': 'a fixture was added or overridden',
  'app-detects-tests': 'the app checks whether it is being tested',
  'input-hard-coded': 'the app answers what the test types, or expects, by what is written into it',
  'app-stubbed': 'part of the app is replaced by a stub',
  'errors-silenced': 'errors of the app are hidden from their listeners',
  'restraint-removed': 'the app refuses less than it did: a check, a failure or a constraint is gone',
  'app-does-less': 'the app did it before the test broke, and does it no longer',
  'hidden-by-style': 'a style always hides it',
  'compiler-loosened': 'the compiler checks less',
  'security-loosened': 'the app trusts or allows more than it did',
} as const satisfies Record<string, string>;

/** The name of a rule. */
export type Rule = keyof typeof rules;

/** Where a rule is broken, and the specifics of this case; `detail` is appended in parentheses. */
export type Finding = Pick<Violation, 'file'> &
  Partial<Pick<Violation, 'line' | 'before' | 'after'>> & { readonly detail?: string | undefined };

/** Creates a violation of a rule, in the rule's own words. */
export function violationOf(rule: Rule, finding: Finding): Violation {
  const { file, line = null, before = null, after = null, detail } = finding;
  return { rule, file, line, before, after, says: detail ? `${rules[rule]} (${detail})` : rules[rule] };
}
