import { expect, it } from 'vitest';
import { selfTestEnv } from '../../../src/doctor/self-test/self-test-env.js';

it('CL-11 a self-test does not inherit the settings and output files of other runs', () => {
  const env = selfTestEnv({
    PATH: '/bin',
    HTTPS_PROXY: 'http://proxy',
    PLAYWRIGHT_BROWSERS_PATH: '/browsers',
    CI: 'true',
    SELF_HEAL_RETRIES_MAX: '0',
    SELF_HEAL_STORE: 'postgres://db',
    GITHUB_ACTIONS: 'true',
    GITHUB_STEP_SUMMARY: '/summary',
    GITHUB_OUTPUT: '/output',
    PLAYWRIGHT_HTML_OUTPUT_DIR: '/html',
    PLAYWRIGHT_JSON_OUTPUT_NAME: 'results.json',
    PWDEBUG: '1',
    GIT_DIR: '/repository/.git',
    FORCE_COLOR: '1',
  });
  expect(env).toEqual({
    PATH: '/bin',
    HTTPS_PROXY: 'http://proxy',
    PLAYWRIGHT_BROWSERS_PATH: '/browsers',
    CI: 'true',
    NO_COLOR: '1',
  });
});
