import { rm } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { launchOptions } from '../rig/chromium.js';
import { causeOf, scratchProject, type Finished, type ScratchProject } from '../rig/scratch-project.js';
import { tempDirOfFile } from '../rig/temp-dir.js';

/** An app in the folder of its tests, started by a worker fixture with pipes. Each of its pages raises a harmless exception. */
const server = `import http from 'node:http';
function load() { throw new Error('SQLITE_ERROR: no such column: orders.vat'); }
const veil = '<div id="veil" class="backdrop show" style="position:fixed;inset:0"><p>Hello</p></div>';
const fetching = '<script>fetch("/api/orders")</script>';
http.createServer((request, response) => {
  response.setHeader('content-type', request.url.startsWith('/api') ? 'application/json' : 'text/html');
  if (request.url.startsWith('/api')) {
    try { load(); } catch (error) { console.error(error.stack); }
    response.statusCode = 500;
    return response.end('{"error":"Internal server error"}');
  }
  const more = request.url === '/veil' ? veil : request.url === '/orders' ? fetching : '';
  response.end('<title>shop</title><h1 id="sum"></h1><button id="b">Save</button><script>noise.id;</script>' + more);
}).listen(0, '127.0.0.1', function () { console.log('port ' + this.address().port); });
`;
const spec = `import { test as base, expect } from '@playwright/test';
import { spawn } from 'node:child_process';
const test = base.extend<{}, { home: string }>({ home: [async ({}, use) => {
  const child = spawn(process.execPath, ['tests/app/server.mjs'], { stdio: 'pipe' });
  const port = await new Promise<string>((resolve) => child.stdout.on('data', (data) => {
    const found = /port (\\d+)/.exec(String(data));
    if (found) resolve(found[1]);
  }));
  await use('http://127.0.0.1:' + port);
  child.kill();
}, { scope: 'worker' }] });
test('green', async ({ page, home }) => { await page.goto(home); await expect(page.locator('#b')).toHaveText('Save'); });
test('answer', async ({ page, home }) => {
  await page.goto(home + '/veil');
  await Promise.all([page.waitForResponse(/api.orders/), page.getByRole('button', { name: 'Save' }).click()]);
});
test('covered', async ({ page, home }) => { await page.goto(home + '/veil'); await page.locator('#b').click(); });
test('missing', async ({ page, home }) => { await page.goto(home); await page.getByRole('button', { name: 'Go' }).click(); });
test('waits', async ({ page, home }) => { await page.goto(home); await page.waitForResponse((response) => response.url().endsWith('/x')); });
test('orders', async ({ page, home }) => { await page.goto(home + '/orders'); await expect(page.locator('#sum')).toHaveText('12'); });
`;
// Four workers: the server's error is logged when the tests before it have made their requests, and could not be about these.
const config = `import { defineConfig } from '@playwright/test';
export default defineConfig({
  testDir: 'tests', timeout: 5_000, workers: 4, fullyParallel: true, expect: { timeout: 500 }, reporter: 'list',
  use: { launchOptions: ${launchOptions} },
});`;

let project: ScratchProject;
let run: Finished;
beforeAll(async () => {
  const files = {
    'package.json': '{ "name": "scratch", "type": "module" }',
    '.gitignore': 'node_modules\n',
    'playwright.config.ts': config,
    'tests/app/server.mjs': server,
    'tests/a.spec.ts': spec,
  };
  project = await scratchProject(files, tempDirOfFile('what failed'));
  run = await project.selfHeal(['run', '--dry-run']);
});

describe('tests of one app that end in a timeout', () => {
  it('HL-6 have one cause per reason: an overlay, a missing button, a database error, a missing response', () => {
    expect(run.report?.causes).toHaveLength(4);
    for (const { headline } of run.report?.causes ?? [])
      expect(headline).not.toMatch(/^(?:Test timeout|expect\()/);
  });

  it('CL-7 are only diagnosed by --dry-run, which prints the prompts and starts no agent', () => {
    expect(run.exitCode).toBe(1);
    expect(run.stdout).toMatch(/^c\d database-error → \/database \(/m);
    expect(run.stdout).toContain('Fix this error so the test can pass');
    expect(run.report).toMatchObject({ dryRun: true, totals: { agentRuns: 0 } });
  });

  it('CS-4 are ui-errors if a button is covered, and name the covering element', () => {
    expect(causeOf(run, 'answer')).toBe(causeOf(run, 'covered'));
    expect(causeOf(run, 'answer')).toMatchObject({ category: 'ui-error' });
    expect(causeOf(run, 'answer').headline).toMatch(/ is covered by div#veil\.backdrop\.show /);
  });

  it('CS-7 are not classified by an exception that green tests raise too', () => {
    expect(causeOf(run, 'missing')).toMatchObject({ category: 'ui-error' });
    expect(causeOf(run, 'missing').headline).toBe(
      "getByRole('button', { name: 'Go' }) not found (locator.click) (tests/a.spec.ts:18)",
    );
  });

  it('EV-7 CS-2 are explained by the output of a server that a test fixture started', () => {
    expect(causeOf(run, 'orders')).toMatchObject({
      category: 'database-error',
      source: 'tests/app/server.mjs:2:25',
    });
  });

  it('CS-5 are network-errors if only a response is missing', () => {
    expect(causeOf(run, 'waits')).toMatchObject({ category: 'network-error' });
    expect(causeOf(run, 'waits').headline).toContain("response.url().endsWith('/x')");
  });

  it('CL-9 are each listed once by inspect, with the evidence and the deciding fact', async () => {
    const { stdout } = await project.selfHeal(['inspect']);
    expect(stdout.split('\n').filter((line) => /^ +\d+ /.test(line))).toHaveLength(5);
    expect(stdout).toMatch(/\d +failed +database-error +c\d +a\.spec\.ts:20 › orders/);
    const shown = await project.selfHeal(['inspect', 'latest', 'orders']);
    expect(shown.stdout).toMatch(/what happened, in order\n[^]*SQLITE_ERROR[^\n]* ← decided\n/);
    expect(shown.stdout).toMatch(/failures\/\d+\/screenshot\.\w+ {2}[\d.]+ kB/);
    const json = await project.selfHeal(['inspect', 'orders', '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      failure: { diagnosis: { category: 'database-error' } },
      test: { verdict: 'failed' },
    });
  });

  it('CL-9 are listed by inspect, with exit code 2, if a name matches several tests or none', async () => {
    for (const name of ['s', 'nothing']) {
      const { exitCode, stderr } = await project.selfHeal(['inspect', name]);
      expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/\d .*(?:missing|orders)/)]);
    }
  });

  it('EV-12 RP-2 are shown from a run’s events if it has no report; a missing record is reported', async () => {
    const latest = path.join(project.dir, '.self-heal/latest');
    await rm(path.join(latest, 'report.json'));
    await rm(path.join(latest, 'failures/2/failure.json'));
    const { stdout, exitCode } = await project.selfHeal(['inspect']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/· red · 6 tests\n +\d +failed/);
    expect(stdout).toContain('failures/2/failure.json cannot be read');
  });
});
