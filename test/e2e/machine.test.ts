import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { agentsYaml, scratchProject } from '../rig/scratch-project.js';

/** A server of somebody else on this machine, outside of the project. */
let foreign: Server;
let port: number;
beforeEach(async () => {
  foreign = createServer((_, response) => response.end('another app')).listen(0, '127.0.0.1');
  await once(foreign, 'listening');
  port = (foreign.address() as AddressInfo).port;
});
afterEach(() => foreign.close());

/** A project with a web server, and a test of one request. */
const project = (webServer: string, test: string, server: string) =>
  scratchProject({
    'package.json': '{ "name": "scratch", "type": "module" }',
    '.gitignore': 'node_modules\ntest-results\n',
    'playwright.config.ts': `export default { testDir: 'tests', workers: 1, reporter: [['list']],
      webServer: ${webServer} };`,
    'tests/a.spec.ts': `import { test, expect } from '@playwright/test';
      test('shows the shop', async ({ request }) => ${test});`,
    'server.mjs': server,
    'agents.yaml': agentsYaml(['no-such-program']),
  });

const shop = () => `import http from 'node:http';
  http.createServer((request, response) => response.end('shop')).listen(${port}, '127.0.0.1');`;
const showsShop = () => `expect(await (await request.get('http://127.0.0.1:${port}/')).text()).toBe('shop')`;

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
])(
  'HL-7 CL-5 %s starts no agent, tells a person what to do, and exits with 3',
  async (_, webServer, said) => {
    const { exitCode, report, stderr } = await (
      await project(webServer(), showsShop(), shop())
    ).selfHeal(['run']);
    expect(exitCode, stderr).toBe(3);
    expect(report?.causes).toMatchObject([
      { verdict: 'failed', attempts: [], reason: expect.stringContaining(said()) },
    ]);
  },
);

/** A project whose server listens at one address, with a test of one request. */
const served = (listen: string, answer: string, asked: string) =>
  project(
    `{ command: 'node server.mjs', url: 'http://${listen}:${port}/up', reuseExistingServer: false }`,
    `expect((await request.get('${asked}')).status()).toBe(200)`,
    `import http from 'node:http';
      import net from 'node:net';
      http.createServer((request, response) => {
        if (request.url === '/up') return response.end('up');
        ${answer}
      }).listen(${port}, '${listen}');`,
  );

/** Frees the port for the project's own server. */
const free = async () => {
  foreign.close();
  await once(foreign, 'close');
};

it('HL-7 CL-5 names the address of a service that nobody started, starts no agent, exits with 3', async () => {
  await free();
  const answer = `net.connect(79, '127.0.0.1').on('error', (error) => {
          console.error('Error: Redis: ' + error.message);
          response.writeHead(500).end();
        });`;
  const { exitCode, report, stderr } = await (
    await served('127.0.0.1', answer, `http://127.0.0.1:${port}/`)
  ).selfHeal(['run']);
  expect(exitCode, stderr).toBe(3);
  expect(report?.causes).toMatchObject([
    { verdict: 'failed', attempts: [], reason: expect.stringContaining('nothing listens at 127.0.0.1:79') },
  ]);
});

it('HL-7 CS-11 names a web server that listens on the other loopback address, and starts an agent', async () => {
  await free();
  const { report } = await (
    await served('127.0.0.1', "response.end('shop');", `http://[::1]:${port}/`)
  ).selfHeal(['run']);
  expect(report?.causes[0]?.headline).toContain(
    `[::1]:${port} refuses connections, while a web server in the config listens at 127.0.0.1:${port}`,
  );
  // Only its program is missing.
  expect(report?.causes[0]?.verdict).toBe('agent-unusable');
});
