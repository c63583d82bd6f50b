import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { applyProposal, ofFixer } from '../../../src/heal/attempt/proposed.js';
import { healingSession } from '../../rig/healing-session.js';
import { tempDir } from '../../rig/temp-dir.js';

const before = Buffer.from([0x61, 0xe4, 0x0a]).toString('utf8');

/** Applies a proposal of the fixer that replaces the text of a file. */
async function proposed(root: string, file: string, from = before) {
  const { session } = await healingSession([]);
  const workspace = {
    ...session.workspace,
    root,
    ready: () => Promise.reject(new Error('no copy is needed')),
  };
  const proposal = ofFixer({ summary: 'x', files: [{ file, before: from, after: from.replace('a', 'b') }] });
  return applyProposal({ ...session, workspace }, { proposal, causeId: 'c1', n: 1 });
}

it.each([
  ['that is not UTF-8', Buffer.from([0x61, 0xe4, 0x0a])],
  ['that changed meanwhile', Buffer.from('other\n')],
])('BF-5 leaves a file %s as it is, and says so', async (_, bytes) => {
  const root = tempDir();
  const file = path.join(root, 'a.ts');
  writeFileSync(file, bytes);
  const { made, work, because } = await proposed(root, file);
  expect(work).toBeNull();
  expect(because).toContain(file);
  expect(made.files).toEqual([]);
  expect(readFileSync(file)).toEqual(bytes);
});

it('BF-5 applies a fix without a copy of the project, keeps modes, and follows links inside the project', async () => {
  const root = tempDir();
  mkdirSync(path.join(root, 'real'));
  writeFileSync(path.join(root, 'real', 'a.ts'), 'a\n', { mode: 0o755 });
  symlinkSync('real', path.join(root, 'linked'));
  const { made, work } = await proposed(root, path.join(root, 'linked', 'a.ts'), 'a\n');
  const file = { kind: 'file', mode: 0o755 };
  expect(work?.change?.edits).toMatchObject([{ path: 'real/a.ts', before: file, after: file }]);
  expect(made).toMatchObject({ exit: 'completed', agent: 'built-in', files: [{ path: 'real/a.ts' }] });
  expect(readFileSync(path.join(root, 'real', 'a.ts'), 'utf8')).toBe('a\n');
});

it('BF-5 leaves a file outside the project as it is', async () => {
  const outside = path.join(tempDir(), 'a.ts');
  writeFileSync(outside, 'a\n');
  expect((await proposed(tempDir(), outside, 'a\n')).work).toBeNull();
});
