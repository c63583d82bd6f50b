import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createMemory } from '../../../src/clients/memory.js';
import type { AttemptEnd } from '../../../src/model/attempt.js';
import { openContentStore, storeChange } from '../../../src/workspace/change.js';
import { aCause, anAttempt, anEnd } from '../../rig/builders.js';
import { tempDir } from '../../rig/temp-dir.js';

/** A memory whose store remembers each fix as `saved`; returns what it was told to refuse. */
async function memory(listSecretNames: (text: string) => readonly string[] = () => []) {
  const dir = path.join(tempDir(), '.self-heal', 'runs', 'run1');
  mkdirSync(dir, { recursive: true });
  const hash = await openContentStore(dir).put(Buffer.from('fixed\n'));
  const after = { kind: 'file', hash, mode: 0o644 } as const;
  await storeChange(dir, { id: '1', edits: [{ path: 'src/a.ts', before: null, after }], folders: [] });
  await storeChange(dir, { id: '2', edits: [], folders: [] });
  const saved: string[] = [];
  const refused: string[] = [];
  const { rememberAttempt: onAttemptEnd } = createMemory({
    store: {
      listRememberedFixes: async () => [],
      rememberFix: async ({ runId }) => (saved.push(runId), 'saved'),
      refuseFix: async (id) => void refused.push(id),
    },
    folder: { dir, runId: 'run1' },
    root: dir,
    listSecretNames,
    warn: () => undefined,
  });
  return { onAttemptEnd, saved, refused };
}

const green = anAttempt({ change: '1', agent: 'debugger', end: anEnd('green') });

it.each([
  { kind: 'offered', because: 'is it meant?', side: 'app', proof: [] },
  anEnd('taken-out'),
  anEnd('still-failing'),
] satisfies AttemptEnd[])('ME-8 does not retry a fix that was green and is now $kind', async (end) => {
  const { onAttemptEnd, saved, refused } = await memory();
  await onAttemptEnd(aCause(), green, 'green-once');
  await onAttemptEnd(aCause(), { ...green, end }, 'proven');
  expect([saved, refused]).toEqual([['run1'], ['saved']]);
});

it('ME-8 remembers no fix without an edit', async () => {
  const { onAttemptEnd, saved } = await memory();
  await onAttemptEnd(aCause(), { ...green, change: '2' }, 'proven');
  expect(saved).toEqual([]);
});

it('EV-9 remembers no fix of a file whose name holds a secret', async () => {
  const { onAttemptEnd, saved } = await memory((text) => (text.includes('src/a') ? ['value of KEY'] : []));
  await onAttemptEnd(aCause(), green, 'proven');
  expect(saved).toEqual([]);
});
