import { existsSync, readdirSync } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import type { Report } from '../../src/run/report.js';
import { isLong } from '../rig/long.js';
import { installedProject, type InstalledProject } from '../rig/installed-project.js';
import { linkPackages } from '../rig/link-packages.js';
import { agentsYaml, editingAgent, pageFiles, shopFiles, userEnv } from '../rig/scratch-project.js';

const broken = {
  ...(isLong ? pageFiles : shopFiles),
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
  if (!isLong) return;
  // The confirming run's trace was read.
  const failures = path.join(project.dir, '.self-heal/latest/failures');
  expect(readdirSync(failures).some((n) => existsSync(path.join(failures, n, 'aria.yml')))).toBe(true);
}

it.runIf(isLong)(
  'CL-1 CL-2 the packed package works in another project through npx, on Node 24',
  async () => {
    const project = await installedProject(broken, ['@playwright/test@1.65', 'node@24']);
    const npx = (...args: readonly string[]) =>
      execa('npx', args, {
        cwd: project.dir,
        env: userEnv(),
        extendEnv: false,
        reject: false,
        stdin: 'ignore',
      });
    expect((await npx('node', '--version')).stdout).toMatch(/^v24\./);
    const { exitCode, stderr } = await npx('self-heal', 'run');
    await expectHealed(project, exitCode, stderr);
  },
);

it('CL-2 the packed package works with the oldest supported Playwright, and is small', async () => {
  const project = await installedProject(broken, isLong ? ['@playwright/test@1.50.0'] : []);
  if (!isLong) await linkPackages(project.dir, ['@playwright', 'playwright', 'playwright-core']);
  const { exitCode, stderr } = await project.run(process.execPath, ['run']);
  await expectHealed(project, exitCode, stderr);
  expect(existsSync(path.join(project.dir, 'node_modules/self-heal/schema/agents.schema.json'))).toBe(true);
  const installed = await packagesIn(path.join(project.dir, 'node_modules'));
  const ours = installed.filter(
    ({ name }) => !/^(?:@playwright\/test|playwright|playwright-core)$/.test(name),
  );
  expect(ours.length).toBeLessThanOrEqual(40);
  expect(ours.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(40_000_000);
  const notices = path.join(project.dir, 'node_modules/self-heal/dist/THIRD-PARTY-NOTICES.txt');
  expect(await readFile(notices, 'utf8')).toMatch(/^Name: zod$/m);
});

/** Every package in a flat folder of packages, with the total size of its files. */
async function packagesIn(folder: string): Promise<{ name: string; bytes: number }[]> {
  const files = await readdir(folder, { recursive: true });
  const sizes = new Map<string, number>();
  for (const file of files) {
    const [name] = /^(?:@[^/]+\/)?[^@./][^/]*(?=\/)/.exec(file.replaceAll(path.sep, '/')) ?? [];
    if (name === undefined) continue;
    const { size } = await lstat(path.join(folder, file));
    sizes.set(name, (sizes.get(name) ?? 0) + size);
  }
  return [...sizes].map(([name, bytes]) => ({ name, bytes }));
}
