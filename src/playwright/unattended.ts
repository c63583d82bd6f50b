import type { Problem } from '../problem.js';

/** Flags that keep Playwright from running the tests, with their effects. */
const unusableFlags = new Map([
  ...['--ui', '--ui-host', '--ui-port', '--debug'].map(
    (flag) => [flag, 'makes Playwright wait for a person'] as const,
  ),
  ['--list', 'makes Playwright list the tests without running them'],
]);

/** Variables that make Playwright wait for a user: the inspector, watch mode, and a pause after each failure. */
const interactiveVariables = ['PWDEBUG', 'PWTEST_WATCH', 'PWPAUSE'] as const;

/** Returns a `Problem` if an argument would keep Playwright from running the tests to their end, otherwise null. */
export function findUnusableFlag(passThrough: readonly string[]): Problem | null {
  for (const argument of passThrough) {
    const [flag = ''] = argument.split('=');
    const why = unusableFlags.get(flag);
    if (why !== undefined)
      return {
        kind: 'usage',
        message: `${flag} ${why}, which self-heal does not support`,
        remedy: `Remove it, or use it with Playwright directly: npx playwright test ${argument}.`,
      };
  }
  return null;
}

/** Returns the variables of this environment that `createUnattendedEnv` removes. */
export function listInteractiveVariables(env: NodeJS.ProcessEnv): string[] {
  return interactiveVariables.filter((name) => !['', '0', 'false', undefined].includes(env[name]));
}

/**
 * Returns an environment in which Playwright never waits for a user. Up to 1.56 its HTML reporter serves the report of a
 * red run forever, with or without a terminal; `PW_TEST_HTML_REPORT_OPEN` is the older name of the variable.
 */
export function createUnattendedEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const unattended = { ...env, PLAYWRIGHT_HTML_OPEN: 'never', PW_TEST_HTML_REPORT_OPEN: 'never' };
  for (const name of interactiveVariables) Reflect.deleteProperty(unattended, name);
  return unattended;
}
