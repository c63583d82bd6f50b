import { expect, it } from 'vitest';
import { launchOptions } from '../rig/chromium.js';
import { freePort } from '../rig/free-port.js';
import { agentsYaml, scratchProject, shopFiles } from '../rig/scratch-project.js';

/** A page that shows no count, because a request fails at load; it is made in every second run. */
const server = (port: number) => `
  import { createServer } from 'node:http';
  import { existsSync, readFileSync } from 'node:fs';
  const isSeen = () => existsSync('.runs') && readFileSync('.runs', 'utf8').length % 2 === 0;
  createServer(({ url }, response) => {
    if (url === '/count') return response.writeHead(500).end('no count');
    const script = url === '/shop' && isSeen() ? "<script>fetch('/count')</script>" : '';
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Shop</h1>' + script);
  }).listen(${port}, '127.0.0.1');`;

async function shop() {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  return scratchProject({
    ...shopFiles,
    '.gitignore': 'node_modules\ntest-results\n.runs\n',
    'server.mjs': server(port),
    'playwright.config.ts': `
      import { defineConfig } from '@playwright/test';
      export default defineConfig({
        testDir: 'tests', workers: 1, reporter: [['list']], expect: { timeout: 500 }, globalSetup: './count.ts',
        webServer: { command: 'node server.mjs', url: '${url}' }, use: { baseURL: '${url}', launchOptions: ${launchOptions} },
      });`,
    'count.ts':
      "import { appendFileSync } from 'node:fs';\nexport default () => appendFileSync('.runs', '.');",
    'tests/shop.spec.ts': `
      import { test, expect } from '@playwright/test';
      for (const what of ['first', 'second']) test(what, async ({ page }) => {
        await page.goto('/shop');
        await page.waitForLoadState('networkidle');
        await expect(page.getByText('3 items')).toBeVisible();
      });`,
    'fixer.mjs':
      "import { writeFileSync } from 'node:fs';\nwriteFileSync('notes.txt', 'tried ' + Math.random());",
    'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
  });
}

it('HL-2 HL-3 HL-6 CS-5 a failure stays the same if one run happens to catch other evidence', async () => {
  const project = await shop();
  const { report, stderr } = await project.selfHeal(['run']);
  expect(report?.causes, stderr).toHaveLength(1);
  expect(report?.causes[0]?.tests).toHaveLength(2);
  expect(report?.causes[0]?.attempts.map(({ end }) => end.kind)).toEqual(Array(3).fill('still-failing'));
  // With an attempt's re-run after the first run and the confirming one, both kinds have been seen.
  expect(report?.totals.playwrightRuns).toBe(5);
});
