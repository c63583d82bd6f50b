import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { NetworkEntry } from '../../src/core/evidence.js';
import type { CaptureFile } from '../../src/playwright/capture-format.js';
import { inlineSuite, type FinishedSuite, type InlineSuite } from '../rig/inline-suite.js';

const spec = `
import { createServer } from 'node:http';
import { test, expect } from '@playwright/test';
let server, home;
test.beforeAll(async () => {
  server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.statusCode = request.url.startsWith('/broken') ? 500 : 200;
    response.end(request.url.startsWith('/broken') ? '{"message":"no such column: total"}' : '{"sum":3}');
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  home = 'http://127.0.0.1:' + server.address().port;
});
test.afterAll(() => server.close());
test('error', async ({ request }) => {
  const response = await request.post(home + '/broken?n=1', { data: { item: 1 }, headers: { authorization: 'Bearer sekret-token' } });
  expect(response.status()).toBe(200);
});
test('refusal', async ({ request }) => { await request.get(home + '/broken', { failOnStatusCode: true }); });
test('no server', async ({ request }) => { await request.get('http://127.0.0.1:1/'); });
test('own context', async ({ playwright }) => {
  const api = await playwright.request.newContext({ baseURL: home });
  expect(await (await api.get('/sum', { params: { n: 2 } })).json()).toEqual({ sum: 4 });
});
test('passes', async ({ request }) => {
  expect(await (await request.fetch(home + '/sum')).json()).toEqual({ sum: 3 });
});
`;

let suite: InlineSuite;
let observed: FinishedSuite;

beforeAll(async () => {
  suite = await inlineSuite({
    'playwright.config.ts': `export default { workers: 1, reporter: [['json', { outputFile: 'report.json' }]] };`,
    'api.spec.ts': spec,
  });
  observed = await suite.run();
}, 60_000);
afterAll(() => suite.dispose());

async function requestsOf(title: string): Promise<readonly NetworkEntry[]> {
  const failure = observed.run.failures.find(({ test }) => test.titlePath.at(-1) === title);
  const { network } = JSON.parse(await readFile(failure?.capture ?? '', 'utf8')) as CaptureFile;
  return network;
}

it('EV-4 keeps requests that a test sends itself, with status, headers and bodies', async () => {
  expect(await requestsOf('error')).toMatchObject([
    {
      method: 'POST',
      url: expect.stringMatching(/^http:.*\/broken\?n=1$/),
      resourceType: 'api',
      status: 500,
      requestBody: '{"item":1}',
      responseBody: '{"message":"no such column: total"}',
      requestHeaders: { authorization: '[masked: header]' },
      responseHeaders: { 'content-type': 'application/json' },
    },
  ]);
  expect(await requestsOf('own context')).toMatchObject([
    { url: expect.stringMatching(/\/sum\?n=2$/), status: 200, responseBody: '{"sum":3}' },
  ]);
});

it('EV-4 keeps a request for which Playwright throws an error', async () => {
  expect(await requestsOf('refusal')).toMatchObject([
    { status: 500, responseBody: expect.stringContaining('no such column: total') },
  ]);
  expect(await requestsOf('no server')).toMatchObject([
    { status: null, failure: expect.stringContaining('ECONNREFUSED') },
  ]);
});

it('CL-3 leaves errors and steps as they are', async () => {
  const messageOf = (title: string) =>
    observed.run.failures.find(({ test }) => test.titlePath.at(-1) === title)?.errors[0]?.message;
  expect(messageOf('refusal')).toMatch(/^Error: apiRequestContext\.get: 500 /);
  expect(messageOf('no server')).toMatch(/^Error: apiRequestContext\.get: connect ECONNREFUSED/);
  const report = (await suite.files())['report.json'] ?? '';
  expect(report).not.toMatch(/fetchResponseBody|api-requests/);
  expect(observed.run.captureProblems).toEqual([]);
  expect(observed.run.tests.find(({ test }) => test.titlePath.at(-1) === 'passes')?.outcome).toBe('expected');
});
