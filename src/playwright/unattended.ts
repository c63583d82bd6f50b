import type { Problem } from '../problem.js';

/** Flags with which Playwright opens a window, and waits there for somebody. */
const waitingFlag = /^--(?:ui|ui-host|ui-port|debug)(?:=|$)/;

/** Variables with which Playwright waits for somebody: the inspector, its watch mode, and a pause after each failure. */
const waitingVariables = ['PWDEBUG', 'PWTEST_WATCH', 'PWPAUSE'] as const;

/** Words for Playwright that would have it wait for a person, as a `Problem` that says where to use them; or null. */
export function waitingWords(passThrough: readonly string[]): Problem | null {
  const word = passThrough.find((one) => waitingFlag.test(one));
  if (word === undefined) return null;
  const [flag] = word.split('=');
  return {
    kind: 'usage',
    message: `${flag} makes Playwright wait for a person, which a run of self-heal never does`,
    remedy: `Leave it out here, or use it with Playwright alone: npx playwright test ${word}.`,
  };
}

/** The variables of this environment that `unattended` takes out. */
export function waitingVariablesIn(env: NodeJS.ProcessEnv): string[] {
  return waitingVariables.filter((name) => !['', '0', 'false', undefined].includes(env[name]));
}

/**
 * An environment in which Playwright waits for nobody. Up to 1.56 its HTML reporter serves the report of a red run for ever,
 * terminal or not; `PW_TEST_HTML_REPORT_OPEN` is the variable's older name.
 */
export function unattended(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const ours = { ...env, PLAYWRIGHT_HTML_OPEN: 'never', PW_TEST_HTML_REPORT_OPEN: 'never' };
  for (const name of waitingVariables) Reflect.deleteProperty(ours, name);
  return ours;
}
