import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { keepGreenPictures } from '../../src/heal/retest.js';
import { aDiagnosed } from '../rig/builders.js';
import { launchOptions } from '../rig/chromium.js';
import { inlineSuite, type InlineSuite } from '../rig/inline-suite.js';
import { tempDir } from '../rig/temp-dir.js';

let suite: InlineSuite;

afterEach(() => suite.dispose());

it('RP-4 a re-run takes a screenshot of a test that passes, which is kept with its failure', async () => {
  suite = await inlineSuite({
    'playwright.config.ts': `export default { reporter: 'line', use: { launchOptions: ${launchOptions} } };`,
    'tests/a.spec.ts': `
      import { test, expect } from '@playwright/test';
      test('shows', async ({ page }) => {
        await page.setContent('<h1>Cart</h1>');
        await expect(page.locator('h1')).toHaveText(process.env.TITLE ?? 'Cart');
      });`,
  });
  const first = await suite.run({}, { env: { TITLE: 'Carts' } });
  const [failure] = first.run.failures;
  if (!failure) throw new Error('the test is green');
  const ids = [failure.test.id];
  const green = await suite.rerun(ids, {}, { pictures: true });
  expect(green.run.status).toBe('passed');
  const kept = tempDir();
  const folder = { failure: async () => kept };
  await keepGreenPictures(folder, [aDiagnosed({ failure })], green.run);
  const picture = path.join(kept, 'after.png');
  expect(readFileSync(picture).subarray(1, 4).toString()).toBe('PNG');

  const plain = await suite.rerun(ids);
  const none = tempDir();
  await keepGreenPictures({ failure: async () => none }, [aDiagnosed({ failure })], plain.run);
  expect(existsSync(path.join(none, 'after.png'))).toBe(false);
});
