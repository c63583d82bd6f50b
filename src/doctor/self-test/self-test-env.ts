/**
 * Variables that must not reach the self-test's run: self-heal's settings, those of Playwright's reporters and debugger, those with which
 * a CI system collects results, and those that tell git hooks which repository to use.
 */
const keptOut =
  /^(?:SELF_HEAL_|GITHUB_|PWDEBUG|PWTEST_|PW_TEST_|PLAYWRIGHT_(?:HTML|JSON|JUNIT|BLOB|LIST)_|FORCE_COLOR$)/i;
const gitPlaces = new Set(['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_PREFIX']);

/** Returns the environment of a self-test: the user's own, since browsers and proxies may need it, without settings of other runs. */
export function selfTestEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = Object.entries(env).filter(([name]) => !keptOut.test(name) && !gitPlaces.has(name));
  return { ...Object.fromEntries(own), NO_COLOR: '1' };
}
