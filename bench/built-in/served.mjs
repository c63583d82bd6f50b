// A server of files, and the suite in front of it. All tests share one browser, which saves half of the time.
import process from 'node:process';

const browser = process.env.SELF_HEAL_CHROMIUM;
const config = `
import { defineConfig } from '@playwright/test';
export default defineConfig({
  testDir: 'tests', workers: 4, fullyParallel: true, reporter: 'dot', timeout: 30_000, expect: { timeout: 5000 },
  use: {
    baseURL: 'http://127.0.0.1:4397', actionTimeout: 5000,
    connectOptions: { wsEndpoint: 'ws://127.0.0.1:4396/browser' },
  },
  webServer: { command: 'node server.mjs', url: 'http://127.0.0.1:4397/', stdout: 'ignore' },
});`;
const serve = `
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { chromium } from '@playwright/test';
await chromium.launchServer({ port: 4396, wsPath: '/browser', args: ['--no-sandbox']${browser ? `, executablePath: '${browser}'` : ''} });
createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://x');
  const file = pathname === '/' ? '/index.html' : pathname;
  try {
    response.setHeader('content-type', /js$/.test(file) ? 'text/javascript' : /json$/.test(file) ? 'application/json' : 'text/html');
    response.end(readFileSync('app' + file));
  } catch { response.writeHead(404).end(); }
}).listen(4397, '127.0.0.1');`;

export const servedFiles = {
  '.gitignore': 'node_modules\ntest-results\n',
  'playwright.config.ts': config,
  'server.mjs': serve,
  'app/index.html': 'here',
};
