import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { agentsYaml, scratchProject, shopFiles } from '../rig/scratch-project.js';
import { storedRun } from '../rig/stored-run.js';

/** A server that counts who connects, and answers nothing. */
async function listener(): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

const token = { NPM_TOKEN: 'a-value-of-the-environment' };

async function cloned(port: number) {
  const store = `store: postgres://u:\${NPM_TOKEN}@127.0.0.1:${port}/db`;
  const project = await scratchProject({
    ...shopFiles,
    'agents.yaml': `${agentsYaml(['no-such-program'])}\n${store}`,
  });
  await storedRun(project.dir);
  return project;
}

it('CF-5 read-only commands contact no server that only agents.yaml names', async () => {
  const { port, connections } = await listener();
  const project = await cloned(port);
  const commands: Record<string, number> = {
    escalations: 2,
    'escalations show x': 2,
    'escalations resolve x --choice skip': 2,
    'escalations quarantine': 2,
    // These need no store.
    report: 0,
    inspect: 0,
  };
  for (const [command, code] of Object.entries(commands)) {
    const { exitCode, stderr } = await project.start(command.split(' '), token);
    expect(stderr.includes('--store'), command).toBe(command.startsWith('escalations'));
    expect(exitCode, command).toBe(code);
  }
  expect(connections()).toBe(0);
});

it('CF-5 read-only commands contact a server that the user names; suite runs contact any', async () => {
  const { port, connections } = await listener();
  const project = await cloned(port);
  const url = `postgres://u@127.0.0.1:${port}/db`;
  await project.start(['escalations', '--store', url], token);
  expect(connections()).toBe(1);
  await project.start(['escalations'], { ...token, SELF_HEAL_STORE: url });
  expect(connections()).toBe(2);
  await project.write({ 'page.html': '<p>nothing to buy</p>' });
  await project.start(['run'], token);
  expect(connections()).toBe(3);
});
