import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect, it } from 'vitest';
import { buildContext } from '../../../src/agents/build-context.js';
import { writeInto } from '../../rig/agent-workspace.js';
import { aCause, aDiagnosed, anAttempt, aTest, aTestFailure, someSettings } from '../../rig/builders.js';
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
  const root = tempDir();
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=a@a', ...args], { cwd: root });
  git('init', '-q');
  for (const [file, subject] of [
    ['tests/cart.spec.ts', 'A test'],
    ...Array.from({ length: 6 }, (_, n) => [`src/${n}.ts`, `Change ${n}`] as const),
  ] as const) {
    writeInto(root, { [file]: subject });
    git('add', '-A');
    git('commit', '-qm', subject);
  }
  const test = aTest('t1', { location: { file: path.join(root, 'tests/cart.spec.ts'), line: 1, column: 1 } });
  const lead = aDiagnosed({ failure: aTestFailure({ test }) });
  const { commits } = await contextIn(root, { cause: aCause({ lead }) });
  expect(commits.map(({ subject }) => subject)).toEqual([
    'A test',
    'Change 5',
    'Change 4',
    'Change 3',
    'Change 2',
  ]);
  expect(commits[0]).toMatchObject({ author: 'Ann', files: ['tests/cart.spec.ts'] });
});
