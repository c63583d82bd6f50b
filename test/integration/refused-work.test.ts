import { rmSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { agentWorkspace, writeInto } from '../rig/agent-workspace.js';

const files = { 'src/cart.js': 'one\n' };

it.skipIf(process.platform === 'win32').each([
  ['a name with a backslash', (cwd: string) => writeInto(cwd, { 'src/a\\b.js': 'x' }), 'src/a\\b.js'],
  [
    'a file in the place of a folder',
    (cwd: string) => {
      rmSync(path.join(cwd, 'src'), { recursive: true });
      writeInto(cwd, { src: 'x' });
    },
    'a folder with a file: src',
  ],
])('HN-2 refuses work with %s, which could be applied or reverted only in part', async (_, work, why) => {
  const { agent } = await agentWorkspace(files);
  const { change, refused } = await agent(work);
  expect([change, refused]).toEqual([null, expect.stringContaining(why)]);
});

it('HN-2 leaves out every path that its journal refuses, in any spelling', async () => {
  const { applied } = await agentWorkspace(files);
  const done = await applied((cwd) =>
    writeInto(cwd, { 'src/new.js': 'x', 'src/Node_Modules/a.js': 'x', '.Git/config': 'x' }),
  );
  expect(done).toMatchObject({ kind: 'applied', change: { edits: [{ path: 'src/new.js' }] } });
});
