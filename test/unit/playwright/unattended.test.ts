import { describe, expect, it } from 'vitest';
import { unattended, waitingVariablesIn, waitingWords } from '../../../src/playwright/unattended.js';

describe('a Playwright that nobody attends', () => {
  it.each([['--ui'], ['--ui-host=0.0.0.0'], ['--ui-port', '0'], ['--debug'], ['--debug=cli']])(
    'CL-4 refuses %s behind --',
    (...words) => {
      expect(waitingWords(['--no-deps', ...words])).toMatchObject({ kind: 'usage' });
    },
  );

  it('CL-1 hands on every other word', () => {
    expect(waitingWords(['--no-deps', '--update-snapshots=all', 'ui.spec.ts', 'debug'])).toBeNull();
  });

  it('CL-4 names the variables that would have it wait, and takes them out', () => {
    const env = { PWDEBUG: 'console', PWPAUSE: '1', PWTEST_WATCH: '', HOME: '/home/me' };
    expect(waitingVariablesIn(env)).toEqual(['PWDEBUG', 'PWPAUSE']);
    expect(waitingVariablesIn({ PWDEBUG: '0' })).toEqual([]);
    expect(unattended({ ...env, PLAYWRIGHT_HTML_OPEN: 'always' })).toEqual({
      HOME: '/home/me',
      PLAYWRIGHT_HTML_OPEN: 'never',
      PW_TEST_HTML_REPORT_OPEN: 'never',
    });
  });
});
