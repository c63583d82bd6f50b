import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import {
  findMissingBrowser,
  findFirstRunProblem,
  findEmptySelection,
  findRefusal,
} from '../../src/playwright/refusals.js';
import { freePort } from '../rig/free-port.js';
import { inlineSuite, type FinishedSuite, type InlineSuite, type RunOptions } from '../rig/inline-suite.js';
import { anError } from '../rig/builders.js';
import type { Selection } from '../../src/playwright/selection.js';

let suite: InlineSuite | null = null;

interface Broken {
  config?: string;
  spec?: string;
  more?: Record<string, string>;
  selection?: Selection;
  options?: RunOptions;
}

const good = `import { test } from '@playwright/test';\ntest('good', () => {});\n`;

async function run({
  config = '',
  spec = good,
  more = {},
  selection,
  options,
}: Broken): Promise<FinishedSuite> {
  suite = await inlineSuite({
    'playwright.config.ts': `export default { reporter: 'line', ${config} };`,
    'a.spec.ts': spec,
    ...more,
  });
  return suite.run(selection, options);
}

const inConfig = { file: expect.stringMatching(/playwright\.config\.ts$/) as string, line: 1 };

it('CS-10 reports a config that throws, which no reporter sees', async () => {
  const { run: seen, stderr } = await run({
    config: `timeout: (() => { throw new Error('config boom') })()`,
  });
  expect(seen).toMatchObject({ status: 'no-report', exitCode: 1, tests: [], failures: [] });
  expect(seen.suiteFailure?.errors[0]).toMatchObject({
    message: 'Error: config boom',
    location: { file: `${suite?.dir}/playwright.config.ts`, line: 1 },
  });
  expect(seen.suiteFailure?.phase).toMatchObject({ kind: 'config', at: inConfig });
  expect(stderr).toContain('config boom');
  expect(findFirstRunProblem(seen, { isNarrowed: false, prepare: null })).toBeNull();
});

it('CS-10 reports a global setup that throws, and where the config names it', async () => {
  const { run: seen } = await run({
    config: `globalSetup: './seed.ts'`,
    more: { 'seed.ts': `export default () => { throw new Error('seed failed'); };` },
  });
  expect(seen).toMatchObject({ status: 'failed', failures: [] });
  expect(seen.suiteFailure).toMatchObject({
    errors: [{ message: 'Error: seed failed' }],
    phase: { kind: 'global-setup', file: expect.stringMatching(/seed\.ts$/), servers: [], at: inConfig },
  });
});

it('CS-10 EV-7 keeps the output of a global setup that ends Playwright with exit code 0', async () => {
  const { run: seen, terminal } = await run({
    config: `globalSetup: './setup.ts'`,
    more: {
      'setup.ts': `export default () => { console.log('Port 4000 not available'); console.error('so I go'); process.exit(0); };`,
    },
  });
  expect(seen.suiteFailure?.errors[0]?.message).toBe(
    'Error: Playwright ended before it finished the run: exit code 0',
  );
  const log = await readFile(seen.serverLog, 'utf8');
  expect(log).toMatch(/^\d{13} Port 4000 not available$/m);
  expect(log).toMatch(/^\d{13} so I go$/m);
  expect(terminal).toContain('Port 4000 not available');
});

it('CS-10 EV-7 CL-3 keeps the output of a build that fails before the web server starts', async () => {
  const server = `command: 'playwright --version && node build.cjs', url: 'http://127.0.0.1:1/', cwd: 'app', stdout: 'ignore', stderr: 'ignore'`;
  const { run: seen } = await run({
    config: `webServer: { ${server} }`,
    more: {
      'app/build.cjs': `console.log('\\u001b[31msrc/cart.ts(3,1): error TS2322\\u001b[0m'); console.error('no end'); process.exitCode = 2;`,
    },
    options: { env: { ...process.env, PATH: path.dirname(process.execPath) + path.delimiter + '/bin' } },
  });
  const command = 'playwright --version && node build.cjs';
  expect(seen.suiteFailure).toMatchObject({
    errors: [{ message: expect.stringMatching(/config\.webServer was not able to start\. Exit code: 2/) }],
    phase: {
      kind: 'web-server',
      file: null,
      servers: [{ command, cwd: 'app', url: 'http://127.0.0.1:1/' }],
      at: inConfig,
    },
  });
  const log = await readFile(seen.serverLog, 'utf8');
  expect(log).toMatch(/^\d{13} src\/cart\.ts\(3,1\): error TS2322$/m);
  expect(log).toMatch(/^\d{13} no end$/m);
});

it('EV-7 leaves out what a web server says after Playwright has told it to stop', async () => {
  const stop = `gracefulShutdown: { signal: 'SIGTERM', timeout: 9_000 }`;
  const { run: seen } = await run({
    config: `webServer: { command: 'exec node hangs.cjs', url: 'http://127.0.0.1:9', timeout: 2_000, ${stop} }`,
    more: {
      'hangs.cjs': `console.log('compiling'); process.on('SIGTERM', () => { console.log('Error: closed'); process.exit(); }); setInterval(() => {}, 1e6);`,
    },
  });
  expect(seen.suiteFailure?.errors[0]?.message).toContain('Timed out waiting 2000ms');
  const log = await readFile(seen.serverLog, 'utf8');
  expect(log).toMatch(/^\d+ compiling\n$/);
});

it('CS-10 ends a re-run whose web server repeats the build error that kept it from starting', async () => {
  const line = '[vite] Internal server error: no such element';
  suite = await inlineSuite({
    'playwright.config.ts': `export default { webServer: { command: 'node server.mjs', port: 1, timeout: 600_000 } };`,
    'server.mjs': `console.log('${line}\\n  Plugin: shop:compile'); setInterval(() => console.log('[500] GET /'), 100);`,
    'a.spec.ts': good,
  });
  const error = anError('Error: Timed out waiting 600000ms from config.webServer.');
  const { run: seen } = await suite.rerun(null, {}, { brokenBuild: { error, line } });
  expect(seen).toMatchObject({ status: 'failed', tests: [], suiteFailure: { errors: [error] } });
  expect(readFileSync(seen.serverLog, 'utf8')).toContain(line);
});

it('CS-10 keeps the failures of tests if a global teardown throws too', async () => {
  const { run: seen } = await run({
    config: `globalTeardown: './down.ts'`,
    spec: good.replace('() => {}', `() => { throw new Error('red'); }`),
    more: { 'down.ts': `export default () => { throw new Error('teardown boom'); };` },
  });
  expect(seen.failures).toHaveLength(1);
  expect(seen.suiteFailure?.errors[0]?.message).toBe('Error: teardown boom');
});

it('EV-11 bounds the log of a server that floods its output, and says so', async () => {
  const { run: seen } = await run({
    config: `webServer: { command: 'node flood.cjs', url: 'http://127.0.0.1:9', timeout: 60_000 }`,
    more: {
      'flood.cjs': `console.log('the first line');
for (let n = 0; n < 30; n += 1) process.stdout.write((n + ' ' + 'x'.repeat(1020) + '\\n').repeat(1024));
console.log('the last line'); process.exitCode = 1;`,
    },
  });
  const log = await readFile(seen.serverLog, 'utf8');
  expect(log.length).toBeLessThan(9 * 1024 * 1024);
  expect(log.slice(0, 40)).toMatch(/^\d+ the first line\n/);
  expect(log.slice(-40)).toMatch(/\d+ the last line\n$/);
  expect(/^\d+ \[self-heal\] \d+ bytes of server output were cut here$/m.test(log)).toBe(true);
  const stamps = log
    .trimEnd()
    .split('\n')
    .map((line) => Number.parseInt(line, 10));
  expect(stamps).toEqual(stamps.toSorted((a, b) => a - b));
});

it('HL-9 notices that an existing server was reused', async () => {
  const { createServer } = await import('node:http');
  const old = createServer((_request, response) => response.end('old'));
  await new Promise<void>((resolve) => old.listen(0, '127.0.0.1', resolve));
  const address = old.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
  const { run: seen } = await run({
    config: `webServer: { command: 'node x.cjs', url: '${url}', reuseExistingServer: true }`,
  });
  old.close();
  expect(seen).toMatchObject({ status: 'passed', exitCode: 0, reusedServer: url, suiteFailure: null });
});

it('HL-9 does not call a server reused if it never started because an earlier one failed', async () => {
  const { run: seen } = await run({
    config: `webServer: [{ command: 'exit 3', port: ${await freePort()} }, { command: 'node x.cjs', port: ${await freePort()} }]`,
  });
  expect(seen).toMatchObject({ reusedServer: null, suiteFailure: { scope: 'suite' } });
});

it('CL-2 says how to install a missing browser', async () => {
  const { run: seen } = await run({
    config: `use: { headless: true }`,
    spec: good.replace('() => {}', 'async ({ page }) => {}'),
    options: { env: { PLAYWRIGHT_BROWSERS_PATH: '/nowhere' } },
  });
  expect(findMissingBrowser(seen)).toMatchObject({
    kind: 'browser-missing',
    remedy: 'Run `npx playwright install`.',
  });
});

it.each<[string, Broken, RegExp]>([
  ['an unknown option', { selection: { passThrough: ['--nonsense'] } }, /unknown option '--nonsense'/],
  [
    'a wrong value in the config',
    { config: `retries: 'many'` },
    /config\.retries must be a non-negative number/,
  ],
  ['a filter that is no pattern', { selection: { filters: ['('] } }, /Invalid regular expression/],
  ['an unknown commit', { selection: { passThrough: ['--only-changed=nope'] } }, /--only-changed/],
])('CL-2 reports that Playwright refuses %s', async (_what, broken, words) => {
  const { run: seen } = await run(broken);
  expect(findRefusal(seen)).toMatchObject({
    kind: 'playwright-refused',
    detail: expect.stringMatching(words),
  });
});

it('CL-2 does not treat an error in the config’s code as a refusal', async () => {
  const { run: seen } = await run({ config: `grep: new RegExp('(')` });
  expect(findRefusal(seen)).toBeNull();
  expect(seen.suiteFailure?.errors[0]?.message).toContain('Invalid regular expression');
});

it('CL-2 says that no test matches', async () => {
  const { run: seen } = await run({ selection: { filters: ['no-such-file'] } });
  const said = (isNarrowed: boolean, prepare: string | null) =>
    findEmptySelection(seen, { isNarrowed, prepare })?.remedy;
  expect(said(true, null)).toContain('Check the filters');
  expect(said(false, null)).toContain('`testDir`');
  expect(said(false, 'npx bddgen')).toContain('Run `npx bddgen` first');
  expect(seen.failures).toEqual([]);
});

it('AG-10 interrupts Playwright so that it ends its web server', async () => {
  const abort = new AbortController();
  const running = run({
    config: `webServer: { command: 'exec node server.cjs' }`,
    spec: `import { existsSync, renameSync } from 'node:fs';
import { test } from '@playwright/test';
test('good', async () => {
  while (!existsSync('pid')) await new Promise((resolve) => setTimeout(resolve, 20));
  renameSync('pid', 'pid.txt');
  await new Promise(() => {});
});`,
    more: {
      'server.cjs': `const fs = require('node:fs'); setInterval(() => {}, 1000);
fs.writeFileSync('pid.part', String(process.pid)); fs.renameSync('pid.part', 'pid');`,
    },
    options: { signal: abort.signal },
  });
  const pid = await pidIn('pid.txt');
  abort.abort();
  const { run: seen } = await running;
  expect(seen).toMatchObject({ status: 'interrupted', suiteFailure: null, failures: [] });
  expect(named(seen)).toEqual(['good not-run']);
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

/** Waits for a process of the suite to write its pid. */
function pidIn(file: string): Promise<number> {
  return vi.waitFor(() => Number(readFileSync(path.join(suite?.dir ?? '', file), 'utf8') || Number.NaN), {
    timeout: 30_000,
  });
}

function named(seen: FinishedSuite['run']): string[] {
  return seen.tests.map(({ test, outcome }) => `${test.titlePath.at(-1)} ${outcome}`);
}

it('AG-10 kills a Playwright that ignores the interrupt', async () => {
  const abort = new AbortController();
  const running = run({
    config: `globalSetup: './hang.ts'`,
    more: {
      'hang.ts': `import { writeFileSync } from 'node:fs';
export default () => { writeFileSync('pid.txt', String(process.pid)); for (;;); };`,
    },
    options: { signal: abort.signal, graceMs: 200 },
  });
  const pid = await pidIn('pid.txt');
  abort.abort();
  expect((await running).run).toMatchObject({ status: 'interrupted', exitCode: null, suiteFailure: null });
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});
