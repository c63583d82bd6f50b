// Counts the loads of a dev server's page per run of its one red test, and the starts of the server, with plain `playwright test` run twice and
// with `self-heal run`, whose agent changes nothing. The server is the suite's own, started for each run of Playwright, or one that runs all the
// time and is reused. The test stays on its page for two seconds.
// Usage: node bench/dev-servers.mjs FOLDER [name …], after `npm run build`; exits 1 if self-heal causes a load or a start that plain Playwright
// does not. FOLDER needs: npm i vite express next react react-dom webpack webpack-cli webpack-dev-server html-webpack-plugin nodemon tsx
// @playwright/test. SELF_HEAL_BUILT names another build.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { launchOptions } from '../scripts/browser.mjs';
import { selfHeal } from './scratch-project.mjs';

const [folder = '.', ...names] = process.argv.slice(2);
const packages = path.resolve(folder);
const built = process.env.SELF_HEAL_BUILT ?? selfHeal;
const port = 4791;
const url = `http://127.0.0.1:${port}/`;

const started = `require('node:fs').appendFileSync(process.env.COUNTS, 'start\\n');`;
const startedModule = `import { appendFileSync } from 'node:fs';\nappendFileSync(process.env.COUNTS, 'start\\n');`;
const page = (script) => `<!doctype html><h1>Step 1</h1>${script}`;
const main = { 'main.js': "document.querySelector('h1').textContent = 'Step 2';\n" };
const vite = { 'index.html': page('<script type="module" src="/main.js"></script>'), ...main };
const plainServer = `${startedModule}
import { createServer } from 'node:http';
createServer((_, response) => response.setHeader('content-type', 'text/html').end('${page('')}')).listen(${port}, '127.0.0.1');`;
const webpack = (more) => ({
  ...main,
  'webpack.config.cjs': `${started}
    const Html = require('html-webpack-plugin');
    module.exports = { mode: 'development', entry: './main.js', devServer: { host: '127.0.0.1', port: ${port}${more} },
      plugins: [new Html({ templateContent: '${page('')}' })] };`,
});

/** Each server with its files and the command that starts it. */
const servers = {
  Vite: [
    { ...vite, 'vite.config.mjs': `${startedModule}\nexport default {};` },
    `vite --host 127.0.0.1 --port ${port} --strictPort`,
  ],
  'Vite in Express': [
    {
      ...vite,
      'server.mjs': `${startedModule}
        import { readFileSync } from 'node:fs';
        import express from 'express';
        import { createServer } from 'vite';
        const vite = await createServer({ server: { middlewareMode: true, hmr: { port: ${port + 1} } }, appType: 'custom' });
        const app = express().use(vite.middlewares);
        app.use(async (request, response) => response.type('html').send(await vite.transformIndexHtml(request.originalUrl, readFileSync('index.html', 'utf8'))));
        app.listen(${port}, '127.0.0.1');`,
    },
    'node server.mjs',
  ],
  'next dev': [
    {
      'next.config.mjs': `${startedModule}\nexport default { allowedDevOrigins: ['127.0.0.1'] };`,
      'pages/index.js': 'export default function Page() { return <h1>Step 2</h1>; }\n',
    },
    `next dev -H 127.0.0.1 -p ${port}`,
  ],
  'webpack-dev-server': [webpack(''), 'webpack serve'],
  'webpack-dev-server that serves the project': [webpack(", static: '.'"), 'webpack serve'],
  nodemon: [{ 'server.mjs': plainServer }, 'nodemon server.mjs'],
  'tsx watch': [{ 'server.mts': plainServer }, 'tsx watch server.mts'],
  'node --watch': [{ 'server.mjs': plainServer }, 'node --watch server.mjs'],
};

const test = `import { appendFileSync } from 'node:fs';
import { test, expect } from '@playwright/test';
test('never says so', async ({ page }) => {
  let loads = 0;
  page.on('framenavigated', (frame) => { if (frame === page.mainFrame()) loads += 1; });
  await page.goto('/', { waitUntil: 'networkidle' });
  await page.waitForTimeout(2_000);
  appendFileSync(process.env.COUNTS, 'loads ' + loads + '\\n');
  await expect(page.getByText('Step 3')).toBeVisible({ timeout: 500 });
});`;

const config = (command, reuse) => `export default { testDir: 'tests', workers: 1, reporter: 'line',
  use: { baseURL: '${url}', launchOptions: ${JSON.stringify(launchOptions())} },
  webServer: { command: ${JSON.stringify(command)}, url: '${url}', reuseExistingServer: ${reuse}, timeout: 120_000 } };`;

let isWorse = false;
for (const [name, [files, command]] of Object.entries(servers)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const cells = [];
  for (const reuse of [false, true]) {
    const plain = await measure(files, { command, reuse, heals: false });
    const healed = await measure(files, { command, reuse, heals: true });
    isWorse ||= healed.loads > plain.loads || healed.starts > plain.starts;
    cells.push(shown(plain), shown(healed));
  }
  console.log(`| ${[name, ...cells].join(' | ')} |`);
}
if (isWorse) process.exitCode = 1;

function shown({ loads, starts, tests }) {
  return `${loads} and ${starts} (${tests})`;
}

/** Returns the page's loads for each time that the test ran, and the server's starts for each Playwright run, or in all if it is reused. */
async function measure(files, { command, reuse, heals }) {
  const dir = mkdtempSync(path.join(packages, 'self-heal-bench-'));
  const counts = path.join(mkdtempSync(path.join(tmpdir(), 'self-heal-bench-')), 'counts');
  const env = {
    ...process.env,
    COUNTS: counts,
    PATH: `${path.join(packages, 'node_modules/.bin')}${path.delimiter}${process.env.PATH}`,
  };
  const all = {
    'package.json': '{ "name": "bench", "private": true }',
    'tests/a.spec.mjs': test,
    'playwright.config.mjs': config(command, reuse),
    ...files,
    'agents.yaml':
      'version: 1\nrunner: own\nrunners: { own: { command: [node, -v], prompt: none } }\nretries: { max: 1 }\nblame: { enabled: false }\n',
  };
  for (const [file, text] of Object.entries(all)) {
    mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
    writeFileSync(path.join(dir, file), text);
  }
  writeFileSync(counts, '');
  const server = reuse
    ? spawn(command, { cwd: dir, env, shell: true, detached: true, stdio: 'ignore' })
    : null;
  try {
    if (server)
      while (
        !(await fetch(url).then(
          (answer) => answer.ok,
          () => false,
        ))
      )
        await delay(200);
    const cli = path.join(packages, 'node_modules/@playwright/test/cli.js');
    for (const args of heals
      ? [[built, 'run']]
      : [
          [cli, 'test'],
          [cli, 'test'],
        ])
      await new Promise((resolve) =>
        spawn(process.execPath, args, { cwd: dir, env, stdio: 'ignore' }).on('exit', resolve),
      );
    // The watcher's last file.
    await delay(2_000);
  } finally {
    if (server) process.kill(-Number(server.pid), 'SIGKILL');
  }
  const lines = readFileSync(counts, 'utf8').trim().split('\n');
  const loads = lines.flatMap((line) => (line.startsWith('loads') ? Number(line.slice(6)) : []));
  const starts = lines.filter((line) => line === 'start').length;
  for (const one of [dir, path.dirname(counts)]) rmSync(one, { recursive: true, force: true, maxRetries: 5 });
  const each = (sum, runs) => Math.round((100 * sum) / runs) / 100;
  return {
    tests: loads.length,
    loads: each(
      loads.reduce((sum, n) => sum + n, 0),
      loads.length,
    ),
    starts: each(starts, reuse ? 1 : loads.length),
  };
}
