import { describe, expect, it } from 'vitest';
import { inlineSuite, type InlineSuite } from '../rig/inline-suite.js';

/** `npm run test:playwrights` runs this file with every minor version that is supported. */
describe('Playwright never waits for a person', () => {
  let suite: InlineSuite;

  it('CL-4 neither serves the HTML report of a red run nor debugs it, whatever the config says', async () => {
    suite = await inlineSuite({
      'playwright.config.ts': `export default { timeout: 2_000, reporter: [['html', { open: 'always' }]] };`,
      'tests/a.spec.ts': `
        import { test, expect } from '@playwright/test';
        test('hangs', () => new Promise(() => {}));
        test('reads the environment', () => {
          expect(process.env.PLAYWRIGHT_HTML_OPEN).toBe('never');
          for (const name of ['PWDEBUG', 'PWTEST_WATCH', 'PWPAUSE']) expect(process.env[name]).toBeUndefined();
        });`,
    });
    const env = { PLAYWRIGHT_HTML_OPEN: 'always', CI: '', PWDEBUG: '1', PWTEST_WATCH: '1', PWPAUSE: '1' };
    const { run } = await suite.run({}, { env });
    expect(run.exitCode).toBe(1);
    expect(run.tests.map(({ outcome }) => outcome)).toEqual(['unexpected', 'expected']);
  });

  it('CL-4 ends a Playwright that does not exit after its run, and keeps the results', async () => {
    suite = await inlineSuite({
      'playwright.config.ts': `export default { reporter: './waits.ts' };`,
      'waits.ts': `export default class { onExit() { return new Promise((resolve) => setTimeout(resolve, 3_600_000)); } }`,
      'tests/a.spec.ts': `
        import { test, expect } from '@playwright/test';
        test('is red', () => expect(1).toBe(2));
        test('is green', () => {});`,
    });
    const { run } = await suite.run({}, { exitTimeoutMs: 100, graceMs: 500 });
    expect(run).toMatchObject({ didNotExit: true, status: 'failed', suiteFailure: null });
    expect(run.tests.map(({ outcome }) => outcome)).toEqual(['unexpected', 'expected']);
  });
});
