import { cpSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { agentsYaml, scratchProject, shopFiles } from '../rig/scratch-project.js';

const idle = 'console.log(\'SELF-HEAL: {"status":"fixed","summary":"nothing"}\')';

const broken = {
  ...shopFiles,
  'page.html': '<p>Tanks</p>',
  'agents.yaml': agentsYaml(['node', '-e', idle], '', 2),
};

it('PB-6 RP-6 clean machines that carry the store ask instead of paying, keep to the limit of a day, and know the quarantine of the branch', async () => {
  const first = await scratchProject(broken);
  const paid = await first.selfHeal(['run']);
  expect(paid).toMatchObject({ exitCode: 1, report: { totals: { agentRuns: 2 } } });

  /** A new machine, with nothing but the repository and what CI has cached. */
  const machine = async (files: Record<string, string>) => {
    const project = await scratchProject({ ...broken, ...files });
    mkdirSync(path.join(project.dir, '.self-heal'));
    cpSync(path.join(first.dir, '.self-heal/ledger.db'), path.join(project.dir, '.self-heal/ledger.db'));
    return project.selfHeal(['run']);
  };
  const told: unknown[] = [];
  const url = await webhook((document) => told.push(document));
  const asks = await machine({
    'agents.yaml': agentsYaml(['node', '-e', idle], `notify: { url: '${url}' }`, 2),
  });
  expect(asks).toMatchObject({ exitCode: 3, report: { totals: { agentRuns: 0 }, warnings: [] } });
  expect(told).toMatchObject([{ outcome: 'escalated', exitCode: 3, causes: [{ verdict: 'escalated' }] }]);

  // Another failure, which has all of its tries.
  const other = {
    'tests/shop.spec.ts': shopFiles['tests/shop.spec.ts'].replace('toBe(true)', 'toBe("yes")'),
  };
  const capped = agentsYaml(['node', '-e', idle], 'limits: { perDay: { agentRuns: 3 } }', 2);
  const spent = await machine({ ...other, 'agents.yaml': capped });
  expect(spent).toMatchObject({ exitCode: 4, report: { totals: { agentRuns: 1 } } });

  const quarantine = 'quarantine: [{ test: shop.spec.ts › buys, until: 2999-01-01 }]';
  const skipped = await machine({ ...other, 'agents.yaml': agentsYaml(['node', '-e', idle], quarantine, 2) });
  expect(skipped).toMatchObject({ exitCode: 0, report: { tests: [{ verdict: 'quarantined' }] } });
  const over = await machine({
    ...other,
    'agents.yaml': `${capped}\nquarantine: [{ test: shop.spec.ts › buys, until: 2026-01-01 }]`,
  });
  expect(over.exitCode).toBe(4);
});

/** Starts a webhook on loopback, which ends with the test; returns its address. */
async function webhook(handle: (document: unknown) => void): Promise<string> {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    handle(await json(request));
    response.end('ok');
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}
