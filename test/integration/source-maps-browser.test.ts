import { renameSync } from 'node:fs';
import path from 'node:path';
import * as esbuild from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { classify } from '../../src/diagnose/classify.js';
import type { Evidence } from '../../src/model/evidence.js';
import type { TestFailure } from '../../src/model/failure.js';
import { ScriptFetcher } from '../../src/evidence/source-maps/fetched-scripts.js';
import { gatherEvidence } from '../../src/evidence/gather-evidence.js';
import { writeInto } from '../rig/agent-workspace.js';
import { appFiles, thrownAt } from '../rig/bundled-app.js';
import { launchOptions } from '../rig/chromium.js';
import { freePort } from '../rig/free-port.js';
import { inlineSuite, type FinishedSuite, type InlineSuite } from '../rig/inline-suite.js';
import { webpackBundle } from '../rig/webpack-bundle.js';

const config = (port: number): string => `
import { defineConfig } from '@playwright/test';
export default defineConfig({
  timeout: 20_000,
  expect: { timeout: 300 },
  workers: 1,
  reporter: 'list',
  use: { baseURL: 'http://127.0.0.1:${port}', launchOptions: ${launchOptions} },
  webServer: { command: 'node server.mjs ${port}', url: 'http://127.0.0.1:${port}/index.html' },
});
`;

/** Serves the app through Vite's development server, and under /packed/ a bundle from outside the project. */
const server = `
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createVite } from 'vite';
const vite = await createVite({
  root: 'app', configFile: false, logLevel: 'error', optimizeDeps: { noDiscovery: true },
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
});
createServer(async (request, response) => {
  const packed = /^\\/packed\\/([\\w.]+)$/.exec(request.url);
  if (!packed) return vite.middlewares(request, response);
  response.setHeader('content-type', packed[1].endsWith('.html') ? 'text/html' : 'text/javascript');
  const file = await readFile(new URL('../outside/' + packed[1], import.meta.url)).catch(() => null);
  if (file === null) response.statusCode = 404;
  response.end(file);
}).listen(Number(process.argv[2]), '127.0.0.1');
`;

const spec = `
import { test, expect } from '@playwright/test';
test('development server', async ({ page }) => {
  await page.goto('/index.html');
  await page.waitForFunction('globalThis.run');
  const thrown = page.waitForEvent('pageerror');
  await page.evaluate('setTimeout(run)');
  await thrown;
  await expect(page.locator('h1')).toBeVisible();
});
test('evaluated modules', async ({ page }) => {
  await page.goto('/packed/evaluated.html');
  const thrown = page.waitForEvent('pageerror');
  await page.evaluate('setTimeout(run)');
  await thrown;
  await expect(page.locator('h1')).toBeVisible();
});
test('bundle', async ({ page }) => {
  await page.goto('/packed/page.html');
  await page.evaluate('run()');
});
`;

let suite: InlineSuite;
let finished: FinishedSuite;

beforeAll(async () => {
  suite = await inlineSuite({
    'playwright.config.ts': config(await freePort()),
    'server.mjs': server,
    'tests/app.spec.ts': spec,
    '../outside/evaluated.html': '<!doctype html><title>dev</title><script src="evaluated.js"></script>',
    '../outside/page.html': '<!doctype html><title>packed</title><script src="main.js"></script>',
  });
  const app = path.join(suite.dir, 'app');
  writeInto(app, appFiles);
  await esbuild.build({
    absWorkingDir: app,
    entryPoints: ['src/main.ts'],
    bundle: true,
    minify: true,
    sourcemap: 'linked',
    outfile: path.join(suite.dir, '../outside/main.js'),
  });
  const evaluated = await webpackBundle(app, { mode: 'development', devtool: 'eval-source-map' });
  renameSync(evaluated, path.join(suite.dir, '../outside/evaluated.js'));
  const fetcher = new ScriptFetcher();
  const onFailedTry = (failure: TestFailure) => fetcher.fetchScripts(failure);
  const traced = await suite.rerun(null, {}, { trace: true, onFailedTry });
  finished = { ...traced, run: { ...traced.run, scripts: fetcher.scripts } };
});

async function evidenceOf(title: string): Promise<Evidence> {
  const failure = finished.run.failures.find(({ test }) => test.titlePath.at(-1) === title);
  if (!failure) throw new Error(`${title} did not fail`);
  const folder = path.join(finished.runDir, 'failures', title);
  const limits = { console: 50, network: 50 };
  return gatherEvidence({ failure, run: finished.run, folder, limits, root: suite.dir });
}

describe('EV-6: a page in a browser', () => {
  it('EV-6 names the source of an error in code from a development server', async () => {
    const evidence = await evidenceOf('development server');
    expect(evidence.missing).toEqual([]);
    const { source } = classify(evidence).facts;
    expect(source).toMatch(new RegExp(`^app/${thrownAt}:\\d+$`));
    expect(evidence.console.find(({ text }) => text.includes("'id'"))?.stack).toContain(`(${source})`);
    expect(evidence.sources[0]).toMatchObject({
      at: source,
      generated: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/src\/checkout\/submit\.ts:\d+:\d+$/),
      snippet: expect.stringContaining('> 14 |   lines.push(form.order!.id'),
    });
  });

  it('EV-6 names the source of an error in a module that a bundle evaluates, although no frame has its URL', async () => {
    const evidence = await evidenceOf('evaluated modules');
    expect(evidence.missing).toEqual([]);
    const { source } = classify(evidence).facts;
    expect(source).toMatch(new RegExp(`^app/${thrownAt}:\\d+$`));
    expect(evidence.sources.find(({ at }) => at === source)?.generated).toMatch(
      /^webpack-internal:\/\/\/.*submit\.ts:/,
    );
  });

  it('EV-6 names the source of an error inside a call by the test, through a map that only the server has', async () => {
    const evidence = await evidenceOf('bundle');
    expect(evidence.missing).toEqual([]);
    expect(evidence.errors[0]?.message).toMatch(new RegExp(`\\(app/${thrownAt}:\\d+\\)`));
    expect(evidence.sources[0]?.generated).toContain('/packed/main.js:');
  });
});
