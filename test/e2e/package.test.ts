import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import type { Report } from '../../src/reporters/report.js';
import { installedProject, type InstalledProject } from '../rig/installed-project.js';
import { agentsYaml, editingAgent, shopFiles, userEnv } from '../rig/scratch-project.js';

const broken = {
  ...shopFiles,
  'package.json': '{ "name": "customer", "type": "module", "private": true }',
  'page.html': '<button id="buy" onclick="this.textContent = \'Tanks\'">Buy</button>',
  'fixer.mjs': editingAgent([['page.html', 'Tanks', 'Thanks']]),
  'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
};

async function expectHealed(
  project: InstalledProject,
  exitCode: number | undefined,
  stderr: string,
): Promise<void> {
  expect(stderr).toContain('c1 healed');
  expect(exitCode).toBe(0);
  const report = JSON.parse(
    await readFile(path.join(project.dir, '.self-heal/latest/report.json'), 'utf8'),
  ) as Report;
  expect(report).toMatchObject({ outcome: 'green', tests: [{ verdict: 'healed', retries: 1 }] });
  // What the workers captured is there, not only what the reporter saw.
  expect(existsSync(path.join(project.dir, '.self-heal/latest/failures/1/aria.yml'))).toBe(true);
}

it('CL-1 CL-2 the packed package works in another project through npx', async () => {
  const project = await installedProject(broken, ['@playwright/test@1.65']);
  const { exitCode, stderr } = await execa('npx', ['self-heal', 'run'], {
    cwd: project.dir,
    env: userEnv(),
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
  });
  await expectHealed(project, exitCode, stderr);
  const schema = path.join(project.dir, 'node_modules/self-heal/schema/agents.schema.json');
  expect(existsSync(schema)).toBe(true);
});

it('CL-2 works with the oldest Playwright that is said to be supported', async () => {
  const project = await installedProject(broken, ['@playwright/test@1.50.0']);
  const { exitCode, stderr } = await project.run(process.execPath, ['run']);
  await expectHealed(project, exitCode, stderr);
});

it('CL-2 works on Node 24', async () => {
  const project = await installedProject(broken, ['@playwright/test@1.65', 'node@24']);
  const node = path.join(project.dir, 'node_modules', 'node', 'bin', 'node');
  expect((await execa(node, ['--version'])).stdout).toMatch(/^v24\./);
  const { exitCode, stderr } = await project.run(node, ['run']);
  await expectHealed(project, exitCode, stderr);
});
