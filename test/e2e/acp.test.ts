import path from 'node:path';
import { expect, it } from 'vitest';
import { scratchProject, shopFiles } from '../rig/scratch-project.js';

const agent = path.resolve(import.meta.dirname, '../../fixtures/agents/speaks-acp.mjs');

it('AG-1 AG-11 CL-13 two lines of agents.yaml set up an ACP program, which heals and shows its work', async () => {
  const project = await scratchProject({
    ...shopFiles,
    'a.txt': 'one\n',
    'word.mjs': `import { readFileSync } from 'node:fs';
      export const word = () => readFileSync('a.txt', 'utf8').trim();`,
    'tests/shop.spec.ts': `
      import { test, expect } from '@playwright/test';
      import { word } from '../word.mjs';
      test('is two', () => { expect(word()).toBe('two'); });`,
    'agents.yaml': `version: 1
runner: own
runners: { own: { acp: ${JSON.stringify([process.execPath, agent, 'edits'])} } }
fixer: none
verify: { review: off, repeat: 1, flips: 0, regression: none }
`,
  });
  const { exitCode, report, events } = await project.selfHeal(['run']);
  expect({ exitCode, verdict: report?.causes[0]?.verdict }).toEqual({ exitCode: 0, verdict: 'healed' });
  expect(await project.read('a.txt')).toBe('two\n');
  const shown = events.flatMap((event) => (event.type === 'agent.activity' ? [event.text] : []));
  expect(shown).toEqual(['plan 1/2: mend it']);
});
