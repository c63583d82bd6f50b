import { expect, it } from 'vitest';
import { agentsYaml, editingAgent, scratchProject, shopFiles } from '../rig/scratch-project.js';

/** Each test uses a place in the worker; there are as many as places.txt says. */
const test = (title: string) => `test('${title}', () => {
  globalThis.used = (globalThis.used ?? 0) + 1;
  if (globalThis.used > Number(readFileSync('places.txt', 'utf8'))) throw new Error('no place left');
});`;
const spec = (...titles: string[]) => `
  import { test } from '@playwright/test';
  import { readFileSync } from 'node:fs';
  declare global { var used: number | undefined; }
  ${titles.map(test).join('\n  ')}`;
const wholeProof = 'verify: { repeat: 2, flips: 1, regression: suite }';
const files = {
  ...shopFiles,
  'places.txt': '2',
  'fixer.mjs': editingAgent([['places.txt', '2', '9']]),
  'agents.yaml': agentsYaml(['node', 'fixer.mjs'], wholeProof),
};

it.each([
  [
    'in other files',
    { 'tests/a.spec.ts': spec('one', 'two'), 'tests/b.spec.ts': spec('three') },
    ['red', 'green', 'red', 'green', 'green', 'red', 'green'],
  ],
  [
    'in its own file, which the confirming run took along',
    { 'tests/a.spec.ts': spec('one', 'two', 'three') },
    ['red', 'red', 'green', 'green', 'green', 'green', 'green', 'red', 'green'],
  ],
])(
  'HL-7 HN-5 heals a test that is red only after others, %s, proves it with them, and says so',
  async (_, specs, proof) => {
    const project = await scratchProject({ ...files, ...specs });
    const { exitCode, report } = await project.selfHeal(['run']);
    expect(report?.totals).toMatchObject({ flaky: 0, healed: 1, agentRuns: 1 });
    expect(report?.causes).toMatchObject([
      { verdict: 'healed', proof, headline: expect.stringContaining('only after 2 other tests') },
    ]);
    expect(exitCode).toBe(0);
  },
);

it('HL-7 calls a test flaky that is green after the others, too', async () => {
  const project = await scratchProject({
    ...files,
    'tests/a.spec.ts': spec('one'),
    'tests/b.spec.ts': `
      import { test, expect } from '@playwright/test';
      import { existsSync, writeFileSync } from 'node:fs';
      test('is red once', () => {
        const hasRun = existsSync('.ran');
        writeFileSync('.ran', '');
        expect(hasRun).toBe(true);
      });`,
  });
  const { report, events } = await project.selfHeal(['run']);
  expect(report?.totals).toMatchObject({ flaky: 1, agentRuns: 0, playwrightRuns: 3 });
  expect(events.filter((event) => event.type === 'suite.started').at(-1)).toMatchObject({ tests: 2 });
});
