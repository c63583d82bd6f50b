import { expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import type { Evidence } from '../../../src/core/evidence.js';
import { environmentOf } from '../../../src/core/environment.js';
import { aSuiteFailure, anError, anEvidence, aTestFailure, failing } from '../../rig/builders.js';

const diagnosed = (over: Partial<Evidence>) => {
  const evidence = anEvidence(over);
  return { ...failing('t1'), evidence, diagnosis: classify(evidence) };
};

it('HL-7 a test that is marked to fail and passes gets no agent: only breaking the app would turn it green', () => {
  const passed = { ...failing('t1'), failure: aTestFailure({ status: 'passed' }) };
  expect(environmentOf([passed])).toContain('remove its `test.fail`');
  expect(environmentOf([passed, failing('t2')])).toBeNull();
});

it.each([
  [
    "Error: item focused with '.only' is not allowed due to the 'forbidOnly' option in 'playwright.config.ts': \"a.spec.ts pays\"",
    'remove it from the test',
  ],
  ['Error: duplicate test title "pays", first declared in a.spec.ts:3', 'rename one'],
  [
    'Error: http://localhost:3000 is already used, make sure that nothing is running on the port/url or set reuseExistingServer:true in config.webServer.',
    'stop it',
  ],
  ['Error: ENOSPC: no space left on device, write', 'free some space'],
  ["Error: ENOTDIR: not a directory, mkdir '/etc/passwd/playwright-transform-cache-0/b0'", 'set TMPDIR'],
  ["Error: EROFS: read-only file system, mkdir '/data/cart'", null],
  ["Error: ENOSPC: System limit for number of file watchers reached, watch '/shop'", null],
  ['Error: Timed out waiting 60000ms from config.webServer.', null],
])('HL-7 a suite that Playwright refuses to run gets no agent: %s', (message, advice) => {
  const refused = { ...diagnosed({ errors: [anError(message)] }), failure: aSuiteFailure() };
  expect(environmentOf([refused])).toEqual(advice === null ? null : expect.stringContaining(advice));
});

it('HL-7 a test without its snapshot gets no agent, which would accept whatever the test shows now', () => {
  const message = "Error: A snapshot doesn't exist at /shop/tests/cart.spec.ts-snapshots/cart-linux.png.";
  const without = diagnosed({ errors: [anError(message)] });
  expect(environmentOf([without])).toContain('run `playwright test` once');
  expect(environmentOf([without, failing('t2')])).toBeNull();
});

const exited = 'Error: Process from config.webServer was not able to start. Exit code: 1';
const waited = 'Error: Timed out waiting 60000ms from config.webServer.';

it.each([
  [
    exited,
    'Error: listen EADDRINUSE: address already in use 127.0.0.1:4623\n    at Server.setupListenHandle (node:net:1940:16)',
    'on port 4623',
  ],
  [exited, 'Port 5173 is already in use', 'on port 5173'],
  [
    exited,
    "[Errno 98] error while attempting to bind on address ('127.0.0.1', 8000): address already in use",
    'another program already listens',
  ],
  [
    exited,
    'Error response from daemon: driver failed: Bind for 0.0.0.0:5432 failed: port is already allocated',
    'on port 5432',
  ],
  [exited, "unknown command: docker compose\n\nRun 'docker --help' for more information", 'Compose plugin'],
  [
    exited,
    'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?',
    'Docker is not running',
  ],
  [
    exited,
    'failed to inspect service: Error: No such container: supabase_db_app',
    'supabase_db_app is not running',
  ],
  [waited, '/bin/sh: 1: docker: not found', 'program docker is missing'],
  [exited, "'java' is not recognized as an internal or external command", 'program java is missing'],
  [
    exited,
    'You are using Node.js 18.19.0. Vite requires Node.js version 20.19+ or 22.12+.',
    'another version',
  ],
  [exited, 'Your Ruby version is 3.1.2, but your Gemfile specified 3.3.0', 'another version'],
  [exited, '/bin/sh: 1: vite: not found', null],
  [exited, "Error: Cannot find module '/app/server.js'", null],
  [exited, 'TypeError: requires is not a function', null],
])('HL-7 CS-11 what only the machine can mend gets no agent: %s %s', (message, serverOutput, advice) => {
  const stopped = diagnosed({ errors: [anError(message)], serverOutput });
  expect(environmentOf([stopped])).toEqual(advice === null ? null : expect.stringContaining(advice));
  if (advice !== null) expect(stopped.diagnosis.retry).toBe('env_error');
  expect(environmentOf([{ ...stopped, machine: null }])).toBeNull();
});
