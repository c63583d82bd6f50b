import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { applyProposal } from '../../../src/heal/attempt/apply-proposal.js';
import { ofFixer } from '../../../src/heal/attempt/proposed.js';
import type { Session } from '../../../src/heal/session.js';
import { tempDir } from '../../rig/temp-dir.js';

it.each([
  ['whose bytes are no UTF-8', Buffer.from([0x61, 0xe4, 0x0a])],
  ['that changed meanwhile', Buffer.from('other\n')],
])('BF-5 a file %s is left as it is, and that is said', async (_, bytes) => {
  const file = path.join(tempDir(), 'a.ts');
  writeFileSync(file, bytes);
  const session = {
    clock: { now: () => 0 },
    bus: { emit: () => undefined },
    settings: { agents: {} },
    workspace: { ready: async () => ({ toCopy: (text: string) => text }) },
  } as unknown as Session;
  const before = Buffer.from([0x61, 0xe4, 0x0a]).toString('utf8');
  const proposal = ofFixer({ summary: 'x', files: [{ file, before, after: before.replace('a', 'b') }] });
  const { attempt, work } = await applyProposal(session, { proposal, causeId: 'c1', n: 1 });
  expect(work).toBeNull();
  expect(attempt).toMatchObject({
    outcome: 'unchanged',
    failedBecause: expect.stringContaining(file) as unknown,
  });
  expect(readFileSync(file)).toEqual(bytes);
});
