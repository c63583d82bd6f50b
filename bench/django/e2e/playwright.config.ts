import { defineConfig } from '@playwright/test';

const port = process.env.SHOP_PORT ?? '8123';
const python = process.env.SHOP_PYTHON ?? 'python3';
const executablePath = process.env.SELF_HEAL_CHROMIUM;

export default defineConfig({
  testDir: 'tests',
  timeout: 15_000,
  expect: { timeout: 2_000 },
  workers: 1,
  reporter: 'list',
  projects: [{ name: 'chromium' }],
  use: {
    baseURL: `http://127.0.0.1:${port}`,
    actionTimeout: 2_000,
    launchOptions: { args: ['--no-sandbox'], ...(executablePath ? { executablePath } : {}) },
  },
  webServer: {
    command: ['migrate --verbosity 0', 'seed', `runserver ${port}`]
      .map((task) => `${python} manage.py ${task}`)
      .join(' && '),
    cwd: '../backend',
    url: `http://127.0.0.1:${port}/login`,
    timeout: 60_000,
    reuseExistingServer: false,
  },
});
