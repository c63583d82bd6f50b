import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { SuiteProgress } from '../../src/playwright/report-state.js';
import { launchOptions } from '../rig/chromium.js';
import { freePort } from '../rig/free-port.js';
import { inlineSuite, type FinishedSuite, type InlineSuite } from '../rig/inline-suite.js';

const configFor = (port: number): string => `
import { defineConfig } from '@playwright/test';
const home = process.env.SHOP = 'http://127.0.0.1:${port}';
export default defineConfig({
  timeout: 15_000,
  expect: { timeout: 300 },
  workers: 2,
  fullyParallel: true,
  reporter: [['list'], ['json', { outputFile: 'reports/user.json' }]],
  use: { trace: 'off', screenshot: 'off', launchOptions: ${launchOptions} },
  webServer: {
    command: 'node server.mjs',
    stdout: 'ignore',
    url: home,
  },
});
`;

const server = `
import http from 'node:http';
const page = \`<!doctype html><title>shop</title><h1>Shop</h1><button>Pay</button><script>
for (let n = 0; n < 510; n += 1) console.log('line ' + n);
fetch('/api/cart?item=1', { headers: { authorization: 'Bearer sekret-token' } }).then((r) => r.json());
fetch('/api/orders', { method: 'POST', body: '{"item":1}' }).then(() => {
  setTimeout(() => { undefined.id; });
  document.title = 'done';
});
</script>\`;
const server = http.createServer((request, response) => {
  if (request.url.startsWith('/api/cart')) return response.setHeader('content-type', 'application/json').end('{"items":[1]}');
  if (request.url.startsWith('/api/orders')) {
    console.log('inserting an order');
    response.statusCode = 500;
    return response.setHeader('content-type', 'application/json').setHeader('set-cookie', 'sid=1').end('{"message":"relation \\\\"orders\\\\" does not exist"}');
  }
  response.setHeader('content-type', 'text/html').end(page);
});
server.listen(Number(new URL(process.env.SHOP).port), '127.0.0.1');
console.error('NODE_OPTIONS of the server: ' + process.env.NODE_OPTIONS);
`;

const spec = `
import { execFileSync } from 'node:child_process';
import { test, expect } from '@playwright/test';
const open = async (page) => { await page.goto(process.env.SHOP); await expect(page).toHaveTitle('done', { timeout: 10_000 }); };
test('fixture page', async ({ page }) => {
  await open(page);
  await test.step('pays', () => expect(page.getByRole('button', { name: 'Buy' })).toBeVisible());
});
test('traces by itself', async ({ context, page }) => {
  await context.tracing.start({ snapshots: true });
  await open(page);
  await context.tracing.stop({ path: test.info().outputPath('own.zip') });
  expect(1).toBe(2);
});
test('passes', async ({ page }) => { await open(page); });
test('times out', async ({ page }) => {
  test.setTimeout(6_000);
  await open(page);
  await page.click('#nope');
});
test('without a page', () => { throw new Error('plain', { cause: new Error('the root') }); });
test('throws a string', () => { throw 'just text'; });
test('ends its worker', () => { process.exit(7); });
test('should fail and does not', () => { test.fail(); });
test('processes of the test are left alone', () => {
  const seen = execFileSync(process.execPath, ['-p', 'process.env.NODE_OPTIONS + " " + process.env.PW_TEST_REPORTER']);
  expect(String(seen).trim()).toBe('--no-deprecation undefined');
});
`;

let suite: InlineSuite;
let first: FinishedSuite;
const progress: SuiteProgress[] = [];

beforeAll(async () => {
  suite = await inlineSuite({
    'playwright.config.ts': configFor(await freePort()),
    'server.mjs': server,
    'shop.spec.ts': spec,
  });
  first = await suite.run(
    {},
    { env: { NODE_OPTIONS: '--no-deprecation' }, onProgress: (now) => progress.push(now) },
  );
}, 120_000);

function failure(title: string) {
  const found = first.run.failures.find(({ test }) => test.titlePath.at(-1) === title);
  if (!found) throw new Error(`${title} did not fail: ${first.terminal}`);
  return found;
}

it('EV-1 reports the step, error, location, retry and time of a failure', () => {
  const red = failure('fixture page');
  expect(red).toMatchObject({ scope: 'test', status: 'failed', retry: 0, test: { project: '' } });
  expect(red.failedStep).toMatch(/toBeVisible/);
  expect(red.test.titlePath).toEqual(['shop.spec.ts', 'fixture page']);
  expect(red.errors[0]?.message).toMatch(/^Error: .*expect\(locator\)\.toBeVisible\(\)/);
  expect(red.errors[0]?.location).toMatchObject({ file: `${suite.dir}/shop.spec.ts`, line: 7 });
  expect(red.errors[0]?.snippet).toContain('>  7 |');
  expect(red.startedAt).toBeGreaterThan(first.run.endedAt - first.run.durationMs);
  expect(red.durationMs).toBeGreaterThan(0);
});

it('EV-1 reports error causes, thrown strings, timeouts and a test that should have failed', () => {
  expect(failure('without a page').errors[0]?.causes).toEqual(['Error: the root']);
  expect(failure('throws a string').errors[0]?.message).toBe('just text');
  expect(failure('times out')).toMatchObject({
    status: 'timedOut',
    failedStep: expect.stringMatching(/click.*#nope/i),
  });
  expect(failure('should fail and does not')).toMatchObject({
    status: 'passed',
    errors: [{ message: 'Expected to fail, but passed.' }],
  });
});

it('EV-7 keeps the web server’s output, even if the config ignores it, and prints none of it', async () => {
  const log = await readFile(first.run.serverLog, 'utf8');
  expect(log).toMatch(/^\d{13} inserting an order$/m);
  expect(log).toMatch(/^\d{13} NODE_OPTIONS of the server: --no-deprecation$/m);
  expect(first.terminal + first.stderr).not.toContain('inserting an order');
  expect(first.run.reusedServer).toBeNull();
});

it('EV-12 reports a worker that exited by itself', () => {
  expect(failure('ends its worker').errors[0]?.message).toContain(
    'worker process exited unexpectedly (code=7',
  );
  expect(first.run.problems).toEqual([]);
});

it('CL-3 leaves the terminal output and files of the user’s reporters as they are', async () => {
  const green = first.run.tests.filter(({ outcome }) => outcome === 'expected');
  expect(green.map(({ test }) => test.titlePath.at(-1))).toEqual([
    'passes',
    'processes of the test are left alone',
  ]);
  expect(first.run.failures).toHaveLength(first.run.tests.length - green.length);
  expect(first.terminal).toContain('7 failed');
  const files = await suite.files();
  expect(Object.keys(files).sort()).toEqual(
    ['package.json', 'playwright.config.ts', 'reports/user.json', 'server.mjs', 'shop.spec.ts'].sort(),
  );
  const report = JSON.parse(files['reports/user.json'] ?? '') as { stats: object };
  expect(report.stats).toMatchObject({ expected: 2, unexpected: 7 });
  expect(files['reports/user.json']).not.toContain('selfHeal');
});

it('CL-13 reports the progress of the suite', () => {
  expect(progress.at(0)).toMatchObject({ total: 9 });
  expect(progress.at(-1)).toMatchObject({ done: 9, total: 9, failed: 7 });
});

it('CL-4 writes tests that end at almost the same time as one line of the report', async () => {
  const fast = await inlineSuite({
    'fast.spec.ts': `
      import { test } from '@playwright/test';
      for (let n = 0; n < 150; n += 1) test('number ' + n, () => {});`,
  });
  const told: SuiteProgress[] = [];
  const { run, runDir } = await fast.run({}, { onProgress: (now) => told.push(now) });
  const lines = (await readFile(path.join(runDir, 'report.ndjson'), 'utf8')).trim().split('\n');
  expect(run.tests).toHaveLength(150);
  expect(told.at(-1)).toEqual({ done: 150, total: 150, failed: 0, test: 'fast.spec.ts › number 149' });
  expect(lines.length).toBeLessThan(150);
}, 60_000);
