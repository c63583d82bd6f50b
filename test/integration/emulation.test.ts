import { expect, it } from 'vitest';
import { emulated } from '../../src/playwright/emulation.js';
import { launchOptions } from '../rig/chromium.js';
import { inlineSuite } from '../rig/inline-suite.js';

it('FL-2 a browser believes another clock, and a run in which no browser was launched says that nothing was emulated', async () => {
  const suite = await inlineSuite({
    'package.json': '{ "name": "inline" }',
    'playwright.config.js': `module.exports = { workers: 1, reporter: 'list', use: { launchOptions: ${launchOptions} } };`,
    'page.spec.js': `
      const { test, expect } = require('@playwright/test');
      test('browser', async ({ page }) => {
        expect(await page.evaluate(() => new Date().getUTCFullYear())).not.toBe(1999);
      });
      test('none', () => {});`,
  });
  const { run: first } = await suite.run();
  const again = async (title: string) => {
    const one = first.tests.find(({ test }) => test.titlePath.at(-1) === title);
    const env = emulated({ clock: Date.UTC(1999, 5, 1) });
    return (await suite.rerun([one?.test.id ?? ''], {}, { env })).run;
  };
  expect(first.tests).toMatchObject([{ outcome: 'expected' }, { outcome: 'expected' }]);
  expect(first.emulated).toBeUndefined();
  expect(await again('browser')).toMatchObject({ emulated: true, tests: [{ outcome: 'unexpected' }] });
  expect(await again('none')).toMatchObject({ emulated: false, tests: [{ outcome: 'expected' }] });
  suite.dispose();
}, 120_000);
