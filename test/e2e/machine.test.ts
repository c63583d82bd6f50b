import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { scratchProject } from '../rig/scratch-project.js';

/** A server of somebody else on this machine, outside of the project. */
let foreign: Server;
let port: number;
beforeEach(async () => {
  foreign = createServer((_, response) => response.end('another app')).listen(0, '127.0.0.1');
  await once(foreign, 'listening');
  port = (foreign.address() as AddressInfo).port;
});
afterEach(() => foreign.close());

const project = (webServer: string) =>
  scratchProject({
    'package.json': '{ "name": "scratch", "type": "module" }',
    '.gitignore': 'node_modules\ntest-results\n',
    'playwright.config.ts': `export default { testDir: 'tests', workers: 1, reporter: [['list']],
      webServer: ${webServer} };`,
    'tests/a.spec.ts': `import { test, expect } from '@playwright/test';
      test('shows the shop', async ({ request }) =>
        expect(await (await request.get('http://127.0.0.1:${port}/')).text()).toBe('shop'));`,
    'server.mjs': `import http from 'node:http';
      http.createServer((request, response) => response.end('shop')).listen(${port}, '127.0.0.1');`,
    'agents.yaml': `version: 1
runner: own
runners: { own: { command: [node, -e, 'process.exit(1)'] } }
`,
  });

it.each([
  [
    'a port that another program holds',
    () =>
      `{ command: 'node server.mjs', url: 'http://127.0.0.1:${port}/health', reuseExistingServer: false }`,
    () => `port ${port}`,
  ],
  [
    'a server of somebody else that is reused',
    () => `{ command: 'node server.mjs', url: 'http://127.0.0.1:${port}/', reuseExistingServer: true }`,
    () => `not this project's server but`,
  ],
  [
    'a program that this machine does not have',
    () => `{ command: 'echo "sh: 1: docker: not found" >&2; exit 127', url: 'http://127.0.0.1:1/' }`,
    () => 'the program docker is missing',
  ],
])(
  'HL-7 CL-5 %s gets no agent, but a sentence for a person, and exits with 3',
  async (_, webServer, said) => {
    const { exitCode, report, stderr } = await (await project(webServer())).selfHeal(['run']);
    expect(exitCode, stderr).toBe(3);
    expect(report?.causes).toMatchObject([
      { verdict: 'failed', attempts: [], reason: expect.stringContaining(said()) },
    ]);
  },
);
