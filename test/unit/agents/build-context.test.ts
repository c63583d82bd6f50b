import path from 'node:path';
import { expect, it } from 'vitest';
import { buildContext } from '../../../src/agents/build-context.js';
import { writeInto } from '../../rig/agent-workspace.js';
import { aCause, anAttempt, someSettings } from '../../rig/builders.js';
import { tempDir } from '../../rig/temp-dir.js';

it('EV-10 reads the patches of this and other runs, but no other file that a shared store names', async () => {
  const root = tempDir();
  const runs = path.join(root, '.self-heal/runs');
  writeInto(root, {
    '.env': 'TOKEN=secret',
    '.self-heal/runs/a/1.patch': '+one',
    '.self-heal/runs/b/1.patch': '+two',
  });
  const { previousAttempts } = await buildContext({
    settings: someSettings(),
    root,
    runId: 'b',
    runDir: path.join(runs, 'b'),
    playwright: '1.57.0',
    cause: aCause(),
    attempt: 4,
    previousAttempts: ['1.patch', '../a/1.patch', '../../../.env'].map((patch) => anAttempt({ patch })),
    guidance: null,
    testsAreOpen: false,
    earlierFix: null,
  });
  expect(previousAttempts.map(({ patch }) => patch)).toEqual(['+two', '+one', null]);
});
