import { defineConfig } from '@playwright/test';
import { launchOptions } from '../rig/chromium.js';

/** The pages of self-heal in a real browser, narrow and wide. */
export default defineConfig({
  testDir: '.',
  outputDir: '../../test-results/pages',
  fullyParallel: true,
  forbidOnly: true,
  reporter: 'list',
  use: { launchOptions: JSON.parse(launchOptions) as object },
  projects: [
    // What does not depend on the width is shown once.
    { name: 'narrow', grep: /@narrow/, use: { viewport: { width: 380, height: 800 } } },
    { name: 'wide', use: { viewport: { width: 1440, height: 900 } } },
  ],
});
