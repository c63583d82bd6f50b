import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Evidence } from '../../src/model/evidence.js';
import type { TestFailure } from '../../src/model/failure.js';
import { buildTimeline, formatTimeline } from '../../src/evidence/timeline.js';
import { readPassingTrace } from '../../src/evidence/passing-tests.js';
import { gatherEvidence } from '../../src/evidence/gather-evidence.js';
import { EvidenceNotes } from '../../src/evidence/bounded-text.js';
import { readTrace } from '../../src/evidence/trace/read-trace.js';
import { writeTraceFiles } from '../../src/evidence/trace/write-trace-files.js';
import { isAtLeast } from '../../src/playwright/find-playwright.js';
import { findPlaywright } from '../../src/playwright/find-playwright.js';
import { createRedactorForValues } from '../../src/secrets/redactor.js';
import { launchOptions } from '../rig/chromium.js';
import { freePort } from '../rig/free-port.js';
import { filesOfZip } from '../rig/zip-files.js';
import { inlineSuite, type FinishedSuite, type InlineSuite } from '../rig/inline-suite.js';

const configFor = (port: number): string => `
export default {
  timeout: 15_000,
  expect: { timeout: 300 },
  workers: 2,
  fullyParallel: true,
  reporter: 'list',
  use: { trace: 'off', baseURL: 'http://127.0.0.1:${port}', actionTimeout: 1_000, launchOptions: ${launchOptions} },
  webServer: { command: 'node server.mjs ${port}', url: 'http://127.0.0.1:${port}' },
};
`;

const server = `
import http from 'node:http';
const page = \`<!doctype html><title>shop</title><h1>Shop</h1><label for="pin">Password</label><input id="pin" type="password"><button data-testid="pay">Pay</button><div id="veil"></div><iframe src="/frame"></iframe><x-basket></x-basket><script>
customElements.define('x-basket', class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: 'open' }).innerHTML = '<p>2 items</p>'; } });
console.warn('no cart');
fetch('/api/hangs');
fetch('/graphql', { method: 'POST', body: '{"query":"me"}' });
fetch('/api/orders', { method: 'POST', body: '{"item":1}', headers: { authorization: 'Bearer s3kret-4kjh-t0k9' } }).then((r) => r.json()).then(() => {
  document.title = 'done';
  setTimeout(() => { undefined.id; });
});
</script><script src="/lost.js"></script>\`;
const json = { 'content-type': 'application/json' };
http.createServer((request, response) => {
  const { url } = request;
  if (url === '/api/hangs') return;
  if (url === '/graphql') return response.writeHead(200, json).end('{"errors":[{"message":"No such ticket","extensions":{"code":"NOT_FOUND"}}]}');
  if (url === '/api/orders') console.error('inserting into orders failed');
  if (url === '/api/orders') return response.writeHead(500, json).end('{"message":"relation \\\\"orders\\\\" does not exist"}');
  if (url === '/frame') return response.writeHead(200, { 'content-type': 'text/html' }).end('<h2>Advert</h2>');
  if (url === '/old') return response.writeHead(302, { location: '/' }).end();
  response.writeHead(200, { 'content-type': 'text/html' }).end(page);
}).listen(Number(process.argv[2]), '127.0.0.1');
`;

const spec = `
import { spawn } from 'node:child_process';
import { test as base, expect, chromium } from '@playwright/test';
const test = base.extend({ api: [async ({}, use) => {
  const child = spawn(process.execPath, ['-e', 'console.log("worker server says no"); setTimeout(() => {}, 60_000)'], { stdio: 'pipe' });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  await use(child);
  child.kill();
}, { scope: 'worker' }] });
const open = async (page, at = '/') => { await page.goto(at); await expect(page).toHaveTitle('done', { timeout: 10_000 }); };
const wrong = (page) => expect(page.locator('h1')).toHaveText('Sop');
test('fixture page', async ({ page }) => {
  await open(page, '/old');
  await page.getByLabel('Password').fill('typed-secret');
  await page.waitForTimeout(1200);
  await test.step('pays', () => expect(page.getByRole('button', { name: 'Buy' })).toBeVisible());
});
test('own context', async ({ browser, baseURL }) => { const page = await (await browser.newContext({ baseURL })).newPage(); await open(page); await wrong(page); });
test('own browser', async ({ baseURL }) => {
  const page = await (await chromium.launch(${launchOptions})).newPage({ baseURL });
  await open(page);
  await wrong(page);
});
test('test timeout', async ({ page }) => { test.setTimeout(6_000); await open(page); await page.click('#nope', { timeout: 0 }); });
test('covered', async ({ page }) => {
  await open(page);
  await page.evaluate(() => { document.querySelector('#veil').style = 'position:fixed;inset:0'; });
  await Promise.all([page.waitForResponse('**/nothing', { timeout: 1_500 }), page.getByTestId('pay').click({ timeout: 0 })]);
});
test.describe('hooks', () => {
  test.beforeEach(async ({ page }) => { await open(page); await wrong(page); });
  test('before each', () => {});
});
test.describe('all', () => {
  test.beforeAll(async ({ browser, baseURL }) => { const page = await browser.newPage({ baseURL }); await open(page); await wrong(page); });
  test('before all', () => {});
});
test.describe('group', () => {
  test.describe.configure({ mode: 'serial' });
  let page;
  test.beforeAll(async ({ browser, baseURL }) => { page = await browser.newPage({ baseURL }); await open(page); });
  test.afterAll(async () => { await page.close(); });
  test('serial green', async () => { await expect(page.locator('h1')).toHaveText('Shop'); });
  test('serial red', async () => { await wrong(page); });
});
test('api only', async ({ request }) => { const answer = await request.post('/api/orders', { data: { item: 2 } }); expect(answer.status()).toBe(201); });
test('own api', async ({ playwright, baseURL }) => { const api = await playwright.request.newContext({ baseURL }); expect((await api.post('/api/orders')).ok()).toBe(true); });
test('server of a worker', async ({ api }) => { expect(api.exitCode).toBe(1); });
test('traces by itself', async ({ context, page }) => { await context.tracing.start({ snapshots: true }); await open(page); await wrong(page); });
test('no page', () => { expect(1).toBe(2); });
test('ends its worker', () => { process.exit(7); });
test('green', async ({ page }) => { await open(page); await expect(page.locator('h1')).toHaveText('Shop'); });
`;

const off = `
import { test, expect } from '@playwright/test';
test.use({ trace: 'off' });
test('turned off', async ({ page }) => { await page.goto('/'); await expect(page.locator('h1')).toHaveText('Sop'); });
`;

let suite: InlineSuite;
let traced: FinishedSuite;
const fetched: string[] = [];

beforeAll(async () => {
  suite = await inlineSuite({
    'playwright.config.ts': configFor(await freePort()),
    'server.mjs': server,
    'shop.spec.ts': spec,
    'off.spec.ts': off,
  });
  traced = await suite.rerun(
    null,
    {},
    {
      env: { PLAYWRIGHT_NO_COPY_PROMPT: '1' },
      trace: true,
      onFailedTry: async ({ test, attachments }) => {
        if (attachments.some(({ name }) => name === 'trace')) fetched.push(test.id);
      },
    },
  );
}, 180_000);

function failure(title: string): TestFailure {
  const found = traced.run.failures.find(({ test }) => test.titlePath.at(-1) === title);
  if (!found) throw new Error(`${title} did not fail`);
  return found;
}

function evidenceOf(title: string): Promise<Evidence> {
  const folder = path.join(traced.runDir, 'failures', title);
  const limits = { console: 50, network: 50 };
  return gatherEvidence({ failure: failure(title), run: traced.run, folder, limits, root: suite.dir });
}

const pages = [
  'fixture page',
  'own context',
  'own browser',
  'test timeout',
  'covered',
  'before each',
  'before all',
  'serial red',
];

/** The Playwright under test. */
function ours() {
  const found = findPlaywright(suite.dir);
  if (!found.ok) throw new Error(found.error.message);
  return found.value;
}

/** `npm run test:playwrights` runs this file with every minor version that is supported. */
describe.each(pages)('the page of %s', (title) => {
  it('EV-2 EV-3 EV-4 EV-8 is in the trace with any config, no matter who opened it', async () => {
    const evidence = await evidenceOf(title);
    // An earlier test of the group opened the page: what came of that is not this one's.
    const isShared = title === 'serial red';
    expect(evidence.missing).toEqual([]);
    expect(evidence.pageUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    expect(evidence.ariaSnapshot).toMatch(/- heading "Shop" \[level=1\]|<h1>Shop/);
    expect(evidence.ariaSnapshot).not.toMatch(/\[ref=|generic/);
    expect(evidence.screenshot).toMatch(/screenshot\.jpg$/);
    const tags = evidence.elements?.map(({ tag, text }) => [tag, text]);
    expect(tags).toEqual(
      expect.arrayContaining([
        ['h1', 'Shop'],
        ['button', 'Pay'],
        ['p', '2 items'],
      ]),
    );
    const thrown = evidence.console.find(({ text }) => text.includes("undefined (reading 'id')"));
    expect(thrown?.type).toBe(isShared ? undefined : 'pageerror');
    const order = evidence.network.find(({ url }) => url.endsWith('/api/orders'));
    if (isShared) expect(order).toBeUndefined();
    else
      expect(order).toMatchObject({
        method: 'POST',
        resourceType: 'fetch',
        status: 500,
        requestBody: '{"item":1}',
        responseBody: '{"message":"relation \\"orders\\" does not exist"}',
      });
  });
});

describe('a trace', () => {
  it('EV-4 CS-7 tells which requests failed', async () => {
    const { network } = await evidenceOf('fixture page');
    const told = network.map(({ url, status, failure: how }) => [new URL(url).pathname, status, how]);
    expect(told).toEqual(
      expect.arrayContaining([
        ['/old', 302, null],
        ['/graphql', null, '200 with GraphQL error NOT_FOUND: No such ticket'],
        ['/lost.js', null, '200 with text/html in place of a script'],
        ['/api/hangs', null, 'no answer until the test ended'],
      ]),
    );
  });

  it('EV-9 contains neither secret headers nor the content of password fields', async () => {
    const evidence = await evidenceOf('fixture page');
    expect(JSON.stringify({ ...evidence, trace: null })).not.toMatch(/s3kret-4kjh-t0k9|typed-secret/);
  });

  it('EV-8 comes with Playwright’s own snapshot of the page in any environment', async () => {
    if (!isAtLeast(ours().version, [1, 53])) return;
    expect((await evidenceOf('covered')).ariaSnapshot).toContain('- heading "Shop" [level=1]');
  });

  it('EV-1 names the element that covered the target of a click', async () => {
    const { errors } = await evidenceOf('covered');
    expect(errors.at(-1)?.message).toContain('div#veil covers it');
  });

  it.each(['api only', 'own api'])('EV-4 has the requests of a test without a page: %s', async (title) => {
    const { network, pageUrl, missing } = await evidenceOf(title);
    expect(network).toMatchObject([
      { method: 'POST', resourceType: 'api', status: 500, responseBody: expect.stringContaining('orders') },
    ]);
    expect([pageUrl, missing]).toEqual([null, []]);
  });

  it('EV-7 comes with the output of a server that a fixture of the worker started', async () => {
    const { serverOutput } = await evidenceOf('server of a worker');
    expect(serverOutput).toContain('worker server says no');
  });

  it.each(['turned off', 'ends its worker'])('EV-12 that is missing is reported: %s', async (title) => {
    const { errors, missing } = await evidenceOf(title);
    expect(errors).toHaveLength(1);
    expect(missing).toContainEqual(expect.stringMatching(/^no trace: the worker ended/));
  });

  it('HL-7 is not recorded twice if a test records one itself, which is reported', () => {
    expect(failure('traces by itself').errors[0]?.message).toMatch(/Tracing has been already started/);
  });

  it('CS-7 RP-4 of a passing test shows its picture and its complaints', async () => {
    const green = traced.run.tests.find(({ test }) => test.titlePath.at(-1) === 'green');
    const { picture, errorCounts } = await readPassingTrace(
      traced.run.traces?.get(green?.test.id ?? '') ?? '',
    );
    expect(picture?.subarray(0, 3)).toEqual(Buffer.from([0xff, 0xd8, 0xff]));
    expect([...errorCounts.keys()]).toContainEqual(expect.stringMatching(/^console .*reading 'id'/));
    expect([...errorCounts.keys()]).toContainEqual(expect.stringMatching(/^page POST .*\/orders → 500$/));
  });

  it('EV-14 EV-9 is one timeline of steps, requests and console, without typed secrets', async () => {
    const happened = formatTimeline(
      buildTimeline(await evidenceOf('fixture page'), { diagnosis: { why: [] } }),
    );
    const lines = happened.split('\n');
    const lineOf = (what: RegExp) => lines.findIndex((line) => what.test(line));
    const places = [/goto|Navigate/, /POST \S+\/orders .*→ 500/, /fill/i, /pays/, /the test failed here/];
    expect(places.map(lineOf)).not.toContain(-1);
    expect(places.map(lineOf)).toEqual(places.map(lineOf).toSorted((a, b) => a - b));
    expect(lines[lineOf(/the test failed here/)]).toMatch(/\(shop\.spec\.ts:\d+/);
    expect(happened).not.toMatch(/s3kret-4kjh-t0k9|typed-secret/);
  });

  it('EV-13 EV-9 is shown as files without secrets, and as a trace that Playwright reads', async () => {
    const evidence = await evidenceOf('fixture page');
    const folder = path.join(traced.runDir, 'failures', 'fixture page');
    const limits = { console: 50, network: 50 };
    const request = {
      trace: evidence.trace ?? '',
      folder,
      limits,
      redactor: createRedactorForValues([]),
    };
    await writeTraceFiles(request);
    const text = (name: string) => readFileSync(path.join(folder, name), 'utf8');
    expect(text('page.html')).toMatch(
      /<h1>Shop<\/h1>[^]*<shadow-root[^]*2 items[^]*<h2>Advert<\/h2>|<h2>Advert/,
    );
    const masked = await readTrace({
      file: path.join(folder, 'trace.zip'),
      limits,
      notes: new EvidenceNotes(),
    });
    expect(masked.network).toHaveLength(evidence.network.length);
    expect(masked.elements).toContainEqual(expect.objectContaining({ tag: 'h1', text: 'Shop' }));
    expect(JSON.stringify(masked)).toContain('relation');
    const secrets = /s3kret-4kjh-t0k9|typed-secret/;
    for (const content of Object.values(await filesOfZip(path.join(folder, 'trace.zip'))))
      expect(content.toString('utf8')).not.toMatch(secrets);
    for (const name of readdirSync(folder).filter((one) => one !== 'trace.zip'))
      expect([name, text(name)]).not.toEqual([name, expect.stringMatching(secrets)]);
    const { cli, version } = ours();
    if (!isAtLeast(version, [1, 59])) return;
    const tool = (...args: string[]) =>
      execFileSync(process.execPath, [cli, 'trace', ...args], { cwd: folder, encoding: 'utf8' });
    tool('open', 'trace.zip');
    expect(tool('actions', '--errors-only')).toContain('pays');
    expect(tool('requests', '--failed')).toContain('orders');
  });

  it('EV-6 is read while the servers run: the last test waits for it', () => {
    const withTrace = traced.run.failures.filter(({ attachments }) =>
      attachments.some(({ name }) => name === 'trace'),
    );
    expect(fetched.toSorted()).toEqual(withTrace.map(({ test }) => test.id).toSorted());
  });
});
