import type { Problem } from '../problem.js';

/** Flags that make Playwright open a window and wait for a user. */
const interactiveFlag = /^--(?:ui|ui-host|ui-port|debug)(?:=|$)/;

/** Variables that make Playwright wait for a user: the inspector, watch mode, and a pause after each failure. */
const interactiveVariables = ['PWDEBUG', 'PWTEST_WATCH', 'PWPAUSE'] as const;

/** Returns a `Problem` if an argument would make Playwright wait for a user, otherwise null. */
export function findInteractiveFlag(passThrough: readonly string[]): Problem | null {
  const argument = passThrough.find((word) => interactiveFlag.test(word));
  if (argument === undefined) return null;
  const [flag] = argument.split('=');
  return {
    kind: 'usage',
    message: `${flag} makes Playwright wait for a person, which self-heal does not support`,
    remedy: `Remove it, or use it with Playwright directly: npx playwright test ${argument}.`,
  };
}

/** Returns the variables of this environment that `unattended` removes. */
export function listInteractiveVariables(env: NodeJS.ProcessEnv): string[] {
  return interactiveVariables.filter((name) => !['', '0', 'false', undefined].includes(env[name]));
}

/**
 * Returns an environment in which Playwright never waits for a user. Up to 1.56 its HTML reporter serves the report of a
 * red run forever, with or without a terminal; `PW_TEST_HTML_REPORT_OPEN` is the older name of the variable.
 */
export function createUnattendedEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const ours = { ...env, PLAYWRIGHT_HTML_OPEN: 'never', PW_TEST_HTML_REPORT_OPEN: 'never' };
  for (const name of interactiveVariables) Reflect.deleteProperty(ours, name);
  return ours;
}
