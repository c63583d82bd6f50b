import path from 'node:path';
import { expect, it } from 'vitest';
import { agentsYaml, scratchProject, shopFiles } from '../rig/scratch-project.js';
import { tempDir } from '../rig/temp-dir.js';

it('HN-3 asks a person about a test that its agent emptied; undo --tests restores it', async () => {
  const spec = 'tests/shop.spec.ts';
  const dir = tempDir();
  const project = await scratchProject(
    {
      ...shopFiles,
      // It leaves its copy alone, and writes into the project by its absolute path.
      'empty.mjs': `
      import { readFileSync, writeFileSync } from 'node:fs';
      const spec = process.argv[2];
      writeFileSync(spec, readFileSync(spec, 'utf8').replaceAll(/expect\\(.*\\);/g, ''));
      console.log('Fix applied successfully');`,
      'agents.yaml': agentsYaml(['node', 'empty.mjs', path.join(dir, spec)], 'fixer: none\n', 1),
    },
    dir,
  );
  await project.write({ 'page.html': '<button>Buy</button>' });
  const before = await project.read(spec);
  const { exitCode, report, stderr } = await project.selfHeal(['run']);
  expect({ exitCode, outcome: report?.outcome }, stderr).toEqual({ exitCode: 3, outcome: 'escalated' });
  expect(report?.causes).toMatchObject([{ verdict: 'escalated', reason: expect.stringContaining(spec) }]);
  expect(await project.read(spec)).not.toBe(before);
  expect(await project.selfHeal(['undo', '--tests'])).toMatchObject({ exitCode: 0 });
  expect(await project.read(spec)).toBe(before);
});
