import { once } from 'node:events';
import { createServer } from 'node:net';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { CaptureFile } from '../../src/playwright/capture-format.js';
import { readComplaints, requestKey } from '../../src/evidence/passing-evidence.js';
import { runFiles } from '../../src/playwright/report-format.js';
import type { SuiteProgress } from '../../src/playwright/report-state.js';
import { launchOptions } from '../rig/chromium.js';
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
import { test, expect, chromium } from '@playwright/test';
const open = async (page) => { await page.goto(process.env.SHOP); await expect(page).toHaveTitle('done', { timeout: 10_000 }); };
test('fixture page', async ({ page }) => {
  await open(page);
  await test.step('pays', () => expect(page.getByRole('button', { name: 'Buy' })).toBeVisible());
});
test('own context', async ({ browser }) => {
  const page = await (await browser.newContext()).newPage();
  await open(page);
  await expect(page.locator('h1')).toHaveText('Sop');
});
test('own browser', async () => {
  const page = await (await chromium.launch(${launchOptions})).newPage();
  await open(page);
  await expect(page.locator('h1')).toHaveText('Sop');
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
test.describe('group', () => {
  test.describe.configure({ mode: 'serial' });
  let page;
  test.beforeAll(async ({ browser }) => { page = await browser.newPage(); await open(page); });
  test.afterAll(async () => { await page.close(); });
  test('shared page', async () => { await expect(page.locator('h1')).toHaveText('Sop'); });
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
afterAll(() => suite.dispose());

/** Playwright before 1.57 cannot learn the port from the server. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address ? address.port : 0;
}

function failure(title: string) {
  const found = first.run.failures.find(({ test }) => test.titlePath.at(-1) === title);
  if (!found) throw new Error(`${title} did not fail: ${first.terminal}`);
  return found;
}

async function captured(title: string): Promise<CaptureFile> {
  return JSON.parse(await readFile(failure(title).capture ?? '', 'utf8')) as CaptureFile;
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

describe.each(['fixture page', 'own context', 'own browser', 'traces by itself', 'times out', 'shared page'])(
  'the page of %s',
  (title) => {
    it('EV-2 EV-8 is captured as a screenshot file and an accessibility snapshot', async () => {
      const [page] = (await captured(title)).pages;
      expect(page).toMatchObject({ error: null, url: expect.stringMatching(/^http:/) });
      expect(page?.ariaSnapshot).toContain('- heading "Shop" [level=1]');
      const picture = await readFile(page?.screenshot ?? '');
      expect(picture.subarray(1, 4).toString()).toBe('PNG');
    });
  },
);

it('CS-7 records the complaints of pages in passing and failing tests', async () => {
  const text = await readFile(path.join(first.runDir, runFiles.complaints), 'utf8');
  const noted = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { test: string; times: number; complaint: { console?: string } });
  const thrown = noted.filter(({ complaint }) => complaint.console?.startsWith('TypeError: '));
  const red = ['fixture page', 'own context', 'times out', 'shared page'];
  const ids = red.map((title) => failure(title).test.id);
  const passed = first.run.tests.find(({ test }) => test.titlePath.at(-1) === 'passes')?.test.id;
  expect(thrown.map(({ test }) => test)).toEqual(expect.arrayContaining([passed, ...ids]));
  expect(thrown.filter(({ test }) => test === passed)).toEqual([expect.objectContaining({ times: 1 })]);
});

it('EV-3 EV-11 keeps the newest console entries and page errors, and counts the others', async () => {
  const { console: entries, dropped } = await captured('fixture page');
  expect(entries).toHaveLength(500);
  expect(dropped.console).toBe(12);
  expect(entries[0]?.text).toBe('line 12');
  expect(entries[0]?.location).toMatch(/^http.*:\d+:\d+$/);
  expect(entries.at(-1)).toMatchObject({
    type: 'pageerror',
    text: "TypeError: Cannot read properties of undefined (reading 'id')",
    stack: expect.stringContaining('at http'),
  });
});

it('EV-4 keeps requests with status, time, headers and bodies', async () => {
  const { network } = await captured('fixture page');
  const order = network.find(({ url }) => url.endsWith('/api/orders'));
  expect(order).toMatchObject({
    method: 'POST',
    status: 500,
    resourceType: 'fetch',
    requestBody: '{"item":1}',
    responseBody: '{"message":"relation \\"orders\\" does not exist"}',
  });
  expect(order?.durationMs).toBeGreaterThanOrEqual(0);
  expect(network.find(({ url }) => url.includes('/api/cart'))?.responseBody).toBe('{"items":[1]}');
});

it('EV-4 CS-7 keeps a page that was answered in place of a script as a failed request', async () => {
  const app = await inlineSuite({
    'playwright.config.ts': `export default { use: { launchOptions: ${launchOptions} } };`,
    'a.spec.ts': `import { test, expect } from '@playwright/test';
      test('red', async ({ page }) => {
        const body = '<script src="/lib.js"></script>';
        await page.route('http://shop.test/**', (route) => route.fulfill({ contentType: 'text/html; charset=utf-8', body }));
        await page.goto('http://shop.test/');
        expect(1).toBe(2);
      });`,
  });
  const { run } = await app.run();
  const capture = JSON.parse(await readFile(run.failures[0]?.capture ?? '', 'utf8')) as CaptureFile;
  app.dispose();
  expect(capture.network).toMatchObject([
    { url: 'http://shop.test/', status: 200, failure: null },
    { url: 'http://shop.test/lib.js', status: null, failure: '200 with text/html in place of a script' },
  ]);
});

it('EV-4 CS-7 keeps a GraphQL answer with errors as a failed request, and notes it as a complaint of a passing test', async () => {
  const app = await inlineSuite({
    'playwright.config.ts': `export default { use: { launchOptions: ${launchOptions} } };`,
    'a.spec.ts': `import { test, expect } from '@playwright/test';
      const answers = { ok: { data: { me: { errors: 1 } } }, bad: { errors: [{ message: 'No such ticket', extensions: { code: 'NOT_FOUND' } }], data: null } };
      for (const name of ['green', 'red']) test(name, async ({ page }) => {
        await page.route('http://shop.test/**', (route) => route.fulfill({ json: answers[route.request().postData() ?? 'ok'] }));
        await page.goto('http://shop.test/');
        for (const body of ['ok', 'bad'])
          await page.evaluate((body) => fetch('/graphql', { method: 'POST', body }).then((answer) => answer.text()), body);
        expect(name).toBe('green');
      });`,
  });
  const { run } = await app.run();
  const complaints = await readComplaints(path.join(path.dirname(run.serverLog), runFiles.complaints));
  const capture = JSON.parse(await readFile(run.failures[0]?.capture ?? '', 'utf8')) as CaptureFile;
  app.dispose();
  const failure = '200 with GraphQL error NOT_FOUND: No such ticket';
  expect(capture.network.slice(1)).toMatchObject([
    { requestBody: 'ok', status: 200, failure: null },
    { requestBody: 'bad', status: null, failure },
  ]);
  expect(complaints.map(({ key }) => key)).toEqual(
    Array(2).fill(
      requestKey({
        method: 'POST',
        url: 'http://shop.test/graphql',
        resourceType: 'fetch',
        status: null,
        failure,
      }),
    ),
  );
});

it('CS-7 records a warning of Vue as a complaint, but no other', async () => {
  const app = await inlineSuite({
    'playwright.config.ts': `export default { use: { launchOptions: ${launchOptions} } };`,
    'a.spec.ts': `import { test, expect } from '@playwright/test';
      test('red', async ({ page }) => {
        await page.evaluate(() => { console.warn('[Vue warn]: no cart'); console.warn('no cart, either'); });
        expect(1).toBe(2);
      });`,
  });
  const { run } = await app.run();
  const complaints = await readFile(path.join(path.dirname(run.serverLog), runFiles.complaints), 'utf8');
  app.dispose();
  expect(
    complaints
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).complaint),
  ).toEqual([{ console: '[Vue warn]: no cart' }]);
});

it('HL-6 notes redirects of pages, also in passing tests, and not those of anything else', async () => {
  const app = await inlineSuite({
    'playwright.config.ts': `export default { use: { launchOptions: ${launchOptions} } };`,
    'a.spec.ts': `import { test, expect } from '@playwright/test';
      import http from 'node:http';
      test('green', async ({ page }) => {
        const server = http.createServer(({ url }, response) => {
          const isPage = url === '/' || url === '/style';
          if (!isPage) response.writeHead(302, { location: url === '/style.css' ? '/style' : '/' });
          else response.setHeader('content-type', url === '/' ? 'text/html' : 'text/css');
          response.end(url === '/' ? '<link rel="stylesheet" href="/style.css">' : '');
        });
        await new Promise((resolve) => server.listen(0, resolve));
        await page.goto('http://localhost:' + server.address().port + '/orders');
        server.closeAllConnections();
        server.close();
      });`,
  });
  const { run } = await app.run();
  const complaints = await readFile(path.join(path.dirname(run.serverLog), runFiles.complaints), 'utf8');
  app.dispose();
  expect(complaints.trim().split('\n')).toEqual([expect.stringMatching(/\/orders".*"status":302/)]);
});

it('EV-4 counts a call as failed that has waited for over a second when the test ends, and notes all open ones of a passing test', async () => {
  const spec = (name: string, expected: number) => `import { test, expect } from '@playwright/test';
    test('${name}', async ({ page }) => {
      const body = '<script>fetch("/hangs"); setTimeout(() => fetch("/asked-late"), 1500)</script>';
      await page.route('http://shop.test/**', (route) =>
        route.request().url().endsWith('/') ? route.fulfill({ contentType: 'text/html', body }) : undefined);
      await page.goto('http://shop.test/');
      await page.waitForRequest('**/asked-late');
      expect(1).toBe(${expected});
    });`;
  const app = await inlineSuite({
    'playwright.config.ts': `export default { use: { launchOptions: ${launchOptions} } };`,
    'a.spec.ts': spec('red', 2),
    'b.spec.ts': spec('green', 1),
  });
  const { run } = await app.run();
  const capture = JSON.parse(await readFile(run.failures[0]?.capture ?? '', 'utf8')) as CaptureFile;
  const complaints = await readFile(path.join(path.dirname(run.serverLog), runFiles.complaints), 'utf8');
  app.dispose();
  expect(capture.network.map(({ url, failure }) => [url, failure])).toEqual([
    ['http://shop.test/', null],
    ['http://shop.test/hangs', 'no answer until the test ended'],
    ['http://shop.test/asked-late', null],
  ]);
  expect(complaints.match(/hangs/g)).toHaveLength(2);
  expect(complaints.match(/asked-late/g)).toHaveLength(2);
});

it('EV-9 masks secret headers before anything is written', async () => {
  const text = await readFile(failure('own context').capture ?? '', 'utf8');
  expect(text).toContain('"authorization":"[masked: header]"');
  expect(text).not.toContain('sekret-token');
});

it('EV-7 keeps the web server’s output, even if the config ignores it, and prints none of it', async () => {
  const log = await readFile(first.run.serverLog, 'utf8');
  expect(log).toMatch(/^\d{13} inserting an order$/m);
  expect(log).toMatch(/^\d{13} NODE_OPTIONS of the server: --no-deprecation$/m);
  expect(first.terminal + first.stderr).not.toContain('inserting an order');
  expect(first.run.reusedServer).toBeNull();
});

it('EV-12 has no capture of a worker that exited by itself', () => {
  const red = failure('ends its worker');
  expect(red.capture).toBeNull();
  expect(red.errors[0]?.message).toContain('worker process exited unexpectedly (code=7');
  expect(first.run.captureProblems).toEqual([]);
});

it('CL-3 leaves the terminal output and files of the user’s reporters as they are', async () => {
  const green = first.run.tests.filter(({ outcome }) => outcome === 'expected');
  expect(green.map(({ test }) => test.titlePath.at(-1))).toEqual([
    'passes',
    'processes of the test are left alone',
  ]);
  expect(first.run.failures).toHaveLength(first.run.tests.length - green.length);
  expect(first.terminal).toContain('10 failed');
  const files = await suite.files();
  expect(Object.keys(files).sort()).toEqual(
    ['package.json', 'playwright.config.ts', 'reports/user.json', 'server.mjs', 'shop.spec.ts'].sort(),
  );
  const report = JSON.parse(files['reports/user.json'] ?? '') as { stats: object };
  expect(report.stats).toMatchObject({ expected: 2, unexpected: 10 });
  expect(files['reports/user.json']).not.toContain('selfHeal');
});

it('CL-13 reports the progress of the suite', () => {
  expect(progress.at(0)).toMatchObject({ total: 12 });
  expect(progress.at(-1)).toMatchObject({ done: 12, total: 12, failed: 10 });
});

it('CL-4 gathers what ends within a moment into one line of the report', async () => {
  const fast = await inlineSuite({
    'fast.spec.ts': `
      import { test } from '@playwright/test';
      for (let n = 0; n < 150; n += 1) test('number ' + n, () => {});`,
  });
  onTestFinished(() => fast.dispose());
  const told: SuiteProgress[] = [];
  const { run, runDir } = await fast.run({}, { onProgress: (now) => told.push(now) });
  const lines = (await readFile(path.join(runDir, 'report.ndjson'), 'utf8')).trim().split('\n');
  expect(run.tests).toHaveLength(150);
  expect(told.at(-1)).toEqual({ done: 150, total: 150, failed: 0, test: 'fast.spec.ts › number 149' });
  expect(lines.length).toBeLessThan(150);
}, 60_000);
