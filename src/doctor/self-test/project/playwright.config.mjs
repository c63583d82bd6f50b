import { readFileSync } from 'node:fs';
import process from 'node:process';
import { defineConfig } from 'playwright/test';

// Written next to this file by the self-test: a free port, and how the user's project starts its browser.
const { port, browser } = JSON.parse(readFileSync(new URL('self-test.json', import.meta.url), 'utf8'));

export default defineConfig({
  testDir: 'tests',
  timeout: 30_000,
  expect: { timeout: 1_500 },
  workers: 2,
  fullyParallel: true,
  reporter: 'list',
  use: { ...browser, baseURL: `http://127.0.0.1:${port}`, actionTimeout: 1_500 },
  webServer: {
    command: `"${process.execPath}" server.mjs ${port}`,
    url: `http://127.0.0.1:${port}/`,
    timeout: 60_000,
    reuseExistingServer: false,
  },
});
