import type { Violation } from '../core/guard/violation.js';

/** Every rule of the guard, and what breaking it means, in words for the agent and the report. */
export const rules = {
  'protected-file': 'agents may not change this file',
  'tests-read-only': 'the tests are read-only for this class of failure: fix the app',
  'cannot-be-judged': 'what the tests check now cannot be determined',
  'link-changed': 'a link may point to any file',
  'repository-changed': 'what changed in a submodule, or in a repository in this one, cannot be compared',
  'snapshot-changed': 'a snapshot, which is what the test expects, was changed',
  'test-data-changed': 'a file that the tests read was changed',
  'module-shadowed': 'it may be imported instead of another module',
  'config-changed': 'the Playwright config was changed',
  'timeout-raised': 'a timeout was set or raised',
  'package-changed':
    'how the tests are started, with which Playwright, or what an install executes, was changed',
  'test-removed': 'a test was removed or renamed',
  'test-emptied': 'the test no longer does anything',
  'assertion-removed': 'an assertion was removed, or is no longer reached',
  'assertion-inverted': 'the assertion now says the opposite',
  'assertion-soft': 'expect.soft lets the test continue after a failure',
  'assertion-polled': 'a value that was checked once is now retried until it matches',
  'matcher-loosened': 'the matcher checks less',
  'expected-changed': 'the expected value changed',
  'expected-text-changed': 'the expected text changed',
  'subject-changed': 'the assertion now checks something else',
  'options-loosened': 'options were added',
  'locator-matches-anything': 'the locator matches something on any page',
  'locator-loosened': 'the locator accepts an alternative',
  'locator-by-expected-text': 'the locator looks for the same text that is asserted',
  'locator-not-at-fault': 'the locator found its element in the red run, so it was not at fault',
  'absence-unproven':
    'a locator that may match nothing was changed, and nothing shows that the new one can match anything',
  'step-removed': 'a step of the test was removed, or is no longer reached',
  'step-changed': 'the test now does something different: only a locator may change',
  'step-added': 'the test does something that it did not do before',
  'sleep-added': 'it waits for a fixed time',
  'navigation-added': 'the test opens a page directly instead of being led there by the app',
  'listener-added': 'the test reacts to something that it did not react to before',
  'action-forced': 'force does what a user could not do',
  'error-swallowed': 'its error is caught, so it cannot fail the test',
  'early-return': 'the test may end before it',
  'not-awaited': 'it is not awaited, so it cannot fail the test',
  'made-conditional': 'it is no longer always reached',
  'condition-changed': 'when or how often it is reached was changed',
  'test-modifier': 'skip, fixme, fail, only and slow keep tests from running or from failing',
  'run-option': 'a test option was changed',
  'mocked-route': 'a request is answered by the test instead of the app',
  'page-rewritten': 'the test changes the page with a script',
  'process-ended': 'the test ends or listens to its own process',
  patched: 'something that the tests rely on is replaced',
  'expect-replaced': 'test or expect is no longer Playwright’s own, or is configured differently',
  'fixture-added': 'a fixture was added or overridden',
  'app-detects-tests': 'the app checks whether it is being tested',
  'input-hard-coded': 'the app answers only the input that the test types',
  'playwright-patched': 'Playwright itself judges the tests',
  'compiler-loosened': 'a compiler or a linter checks less',
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
