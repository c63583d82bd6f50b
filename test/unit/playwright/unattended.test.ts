import { describe, expect, it } from 'vitest';
import {
  unattended,
  interactiveVariablesIn,
  interactiveFlagProblem,
} from '../../../src/playwright/unattended.js';

describe('an unattended Playwright', () => {
  it.each([['--ui'], ['--ui-host=0.0.0.0'], ['--ui-port', '0'], ['--debug'], ['--debug=cli']])(
    'CL-4 refuses %s after --',
    (...words) => {
      expect(interactiveFlagProblem(['--no-deps', ...words])).toMatchObject({ kind: 'usage' });
    },
  );

  it('CL-1 passes on every other argument', () => {
    expect(interactiveFlagProblem(['--no-deps', '--update-snapshots=all', 'ui.spec.ts', 'debug'])).toBeNull();
  });

  it('CL-4 names the variables that would make it wait, and removes them', () => {
    const env = { PWDEBUG: 'console', PWPAUSE: '1', PWTEST_WATCH: '', HOME: '/home/me' };
    expect(interactiveVariablesIn(env)).toEqual(['PWDEBUG', 'PWPAUSE']);
    expect(interactiveVariablesIn({ PWDEBUG: '0' })).toEqual([]);
    expect(unattended({ ...env, PLAYWRIGHT_HTML_OPEN: 'always' })).toEqual({
      HOME: '/home/me',
      PLAYWRIGHT_HTML_OPEN: 'never',
      PW_TEST_HTML_REPORT_OPEN: 'never',
    });
  });
});
