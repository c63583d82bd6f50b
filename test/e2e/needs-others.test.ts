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
const proven = 'verify: { repeat: 1, flips: 1, regression: suite }';
const files = {
  ...shopFiles,
  'places.txt': '2',
  'fixer.mjs': editingAgent([['places.txt', '2', '9']]),
  'agents.yaml': agentsYaml(['node', 'fixer.mjs'], proven),
};

it('HL-7 HN-5 heals a test that is red only after others, and proves it with them', async () => {
  const project = await scratchProject({
    ...files,
    'tests/a.spec.ts': spec('one', 'two'),
    'tests/b.spec.ts': spec('three'),
    'tests/c.spec.ts': `
      import { test, expect } from '@playwright/test';
      import { existsSync, writeFileSync } from 'node:fs';
      test('is red once', () => {
        const hasRun = existsSync('.ran');
        writeFileSync('.ran', '');
        expect(hasRun).toBe(true);
      });`,
  });
  const { exitCode, report } = await project.selfHeal(['run']);
  expect(report?.totals).toMatchObject({ flaky: 1, healed: 1, agentRuns: 1 });
  const headline = expect.stringContaining('only after 2 other tests') as string;
  const proof = ['red', 'green', 'red', 'green', 'red', 'green'];
  expect(report?.causes).toMatchObject([{ verdict: 'healed', proof, headline }]);
  expect(exitCode).toBe(0);
});
