import { withoutRepository } from '../../without-repository.js';

/**
 * Variables that must not reach the self-test's run: self-heal's settings, those of Playwright's reporters and debugger, and those with
 * which a CI system collects results.
 */
const keptOut =
  /^(?:SELF_HEAL_|GITHUB_|PWDEBUG|PWTEST_|PW_TEST_|PLAYWRIGHT_(?:HTML|JSON|JUNIT|BLOB|LIST)_|FORCE_COLOR$)/i;

/** Returns the environment of a self-test: the user's own, since browsers and proxies may need it, without settings of other runs. */
export function selfTestEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = Object.entries(withoutRepository(env)).filter(([name]) => !keptOut.test(name));
  return { ...Object.fromEntries(own), NO_COLOR: '1' };
}
