import type { Violation } from '../model/guard-findings.js';

/** Changes that no honest fix contains, as phrases for the agent and the report. */
const rules = {
  'cannot-be-judged': 'it is unclear what the tests check now',
  'app-detects-tests': 'the app checks whether it is being tested',
  'compiler-loosened': 'a compiler or a linter checks less',
  'playwright-patched': 'it changes Playwright, which judges the tests',
  'flake-hidden': 'the flake would only be hidden',
  'module-shadowed': 'the tests would import another module',
} as const satisfies Record<string, string>;

export type GuardRule = keyof typeof rules;

/** Where a rule is violated, with details of this case; `detail` is appended in parentheses. */
type Finding = Pick<Violation, 'file'> &
  Partial<Pick<Violation, 'line' | 'before' | 'after'>> & { readonly detail?: string | undefined };

export function createViolation(rule: GuardRule, finding: Finding): Violation {
  const { file, line = null, before = null, after = null, detail } = finding;
  return { rule, file, line, before, after, says: detail ? `${rules[rule]} (${detail})` : rules[rule] };
}
