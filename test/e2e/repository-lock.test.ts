import { once } from 'node:events';
import path from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { agentsYaml, editingAgent, scratchProject, shopFiles } from '../rig/scratch-project.js';
import { tempDir } from '../rig/temp-dir.js';
import { appears } from '../rig/working-agent.js';

const broken = { 'page.html': '<button id="buy">Buy</button>' };
const fix = editingAgent([['page.html', 'Buy', 'Thanks']]);

it('HN-2 while one run changes files, a run in another project of the repository waits, and then runs', async () => {
  const root = tempDir('repository');
  await execa('git', ['init', '--quiet', root]);
  const files = { ...shopFiles, ...broken, 'agents.yaml': agentsYaml(['node', 'fix.mjs']) };
  const one = await scratchProject(files, path.join(root, 'packages', 'one'));
  const two = await scratchProject(files, path.join(root, 'packages', 'two'));
  const place = (name: string) => JSON.stringify(path.join(one.dir, name));
  await one.write({
    'fix.mjs': `
      import fs from 'node:fs';
      fs.writeFileSync(${place('agent.started')}, '');
      while (!fs.existsSync(${place('go')})) await new Promise((resolve) => setTimeout(resolve, 20));
      ${fix}`,
  });
  await two.write({
    'fix.mjs': fix,
    'tests/ran.spec.ts': `
      import { test } from '@playwright/test';
      import { writeFileSync } from 'node:fs';
      test('runs', () => writeFileSync('ran', ''));`,
  });
  const first = one.start(['run']);
  await appears(one, 'agent.started');
  const second = two.start(['run']);
  const [said] = (await once(second.stderr, 'data')) as [Buffer];
  expect(String(said)).toContain('waiting for another self-heal');
  await expect(two.read('ran')).rejects.toThrow();
  await one.write({ go: '' });
  const ended = await Promise.all([first, second]);
  expect(ended.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  for (const project of [one, two]) expect(await project.read('page.html')).toContain('Thanks');
});
