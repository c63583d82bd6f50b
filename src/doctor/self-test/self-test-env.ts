/**
 * What the surroundings would tell the run of a self-test, and must not: self-heal's own settings, what Playwright's reporters and
 * debugger listen to, where a CI system collects results, and which repository a git hook is about.
 */
const keptOut =
  /^(?:SELF_HEAL_|GITHUB_|PWDEBUG|PWTEST_|PW_TEST_|PLAYWRIGHT_(?:HTML|JSON|JUNIT|BLOB|LIST)_|FORCE_COLOR$)/i;
const gitPlaces = new Set(['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_PREFIX']);

/** The environment of a self-test: the user's own, since browsers and proxies may need it, without settings of other runs. */
export function selfTestEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = Object.entries(env).filter(([name]) => !keptOut.test(name) && !gitPlaces.has(name));
  return { ...Object.fromEntries(own), NO_COLOR: '1' };
}
