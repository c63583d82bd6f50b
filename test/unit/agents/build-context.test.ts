import path from 'node:path';
import { expect, it } from 'vitest';
import { buildContext } from '../../../src/agents/build-context.js';
import { writeInto } from '../../rig/agent-workspace.js';
import { aCause, aDiagnosed, anAttempt, aTest, aTestFailure, someSettings } from '../../rig/builders.js';
import { gitRepository } from '../../rig/git-repository.js';
import { tempDir } from '../../rig/temp-dir.js';

/** What an agent is told in run `b` of a project. */
const contextIn = (root: string, over: Partial<Parameters<typeof buildContext>[0]>) =>
  buildContext({
    settings: someSettings(),
    root,
    runId: 'b',
    runDir: path.join(root, '.self-heal/runs/b'),
    playwright: '1.57.0',
    cause: aCause(),
    attempt: 1,
    previousAttempts: [],
    guidance: null,
    testsAreOpen: false,
    earlierFix: null,
    ...over,
  });

it('EV-10 reads the patches of this and other runs, but no other file that a shared store names', async () => {
  const root = tempDir();
  writeInto(root, {
    '.env': 'TOKEN=secret',
    '.self-heal/runs/a/1.patch': '+one',
    '.self-heal/runs/b/1.patch': '+two',
  });
  const tried = ['1.patch', '../a/1.patch', '../../../.env'].map((patch) => anAttempt({ patch }));
  const { previousAttempts } = await contextIn(root, { previousAttempts: tried });
  expect(previousAttempts.map(({ patch }) => patch)).toEqual(['+two', '+one', null]);
});

it('AG-2 tells the last commits, first those of the files that the failure names', async () => {
  const { dir: root, commit } = gitRepository();
  commit({ 'tests/cart.spec.ts': '' }, 'A test');
  for (let n = 0; n < 6; n += 1) commit({ [`src/${n}.ts`]: '' }, `Change ${n}`);
  const test = aTest('t1', { location: { file: path.join(root, 'tests/cart.spec.ts'), line: 1, column: 1 } });
  const lead = aDiagnosed({ failure: aTestFailure({ test }) });
  const { commits } = await contextIn(root, { cause: aCause({ lead }) });
  const newest = [5, 4, 3, 2].map((n) => `Change ${n}`);
  expect(commits.map(({ subject }) => subject)).toEqual(['A test', ...newest]);
  expect(commits[0]).toMatchObject({ author: 'Ann', files: ['tests/cart.spec.ts'] });
});
