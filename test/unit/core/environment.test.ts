import { expect, it } from 'vitest';
import { environmentOf } from '../../../src/core/environment.js';
import { aSuiteFailure, anError, anEvidence, aTestFailure, failing } from '../../rig/builders.js';

it('HL-7 a test that is marked to fail and passes gets no agent: only breaking the app would turn it green', () => {
  const passed = { ...failing('t1'), failure: aTestFailure({ status: 'passed' }) };
  expect(environmentOf([passed])).toContain('remove its `test.fail`');
  expect(environmentOf([passed, failing('t2')])).toBeNull();
});

it.each([
  [
    "Error: item focused with '.only' is not allowed due to the 'forbidOnly' option in 'playwright.config.ts': \"a.spec.ts pays\"",
    'remove it from the test',
  ],
  ['Error: duplicate test title "pays", first declared in a.spec.ts:3', 'rename one'],
  [
    'Error: http://localhost:3000 is already used, make sure that nothing is running on the port/url or set reuseExistingServer:true in config.webServer.',
    'stop it',
  ],
  ['Error: ENOSPC: no space left on device, write', 'free some space'],
  ["Error: ENOTDIR: not a directory, mkdir '/etc/passwd/playwright-transform-cache-0/b0'", 'set TMPDIR'],
  ["Error: EROFS: read-only file system, mkdir '/data/cart'", null],
  ["Error: ENOSPC: System limit for number of file watchers reached, watch '/shop'", null],
  ['Error: Timed out waiting 60000ms from config.webServer.', null],
])('HL-7 a suite that Playwright refuses to run gets no agent: %s', (message, advice) => {
  const refused = {
    ...failing('t1'),
    failure: aSuiteFailure(),
    evidence: anEvidence({ errors: [anError(message)] }),
  };
  expect(environmentOf([refused])).toEqual(advice === null ? null : expect.stringContaining(advice));
});

it('HL-7 a test without its snapshot gets no agent, which would accept whatever the test shows now', () => {
  const message = "Error: A snapshot doesn't exist at /shop/tests/cart.spec.ts-snapshots/cart-linux.png.";
  const without = { ...failing('t1'), evidence: anEvidence({ errors: [anError(message)] }) };
  expect(environmentOf([without])).toContain('run `playwright test` once');
  expect(environmentOf([without, failing('t2')])).toBeNull();
});
