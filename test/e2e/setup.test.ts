import { chmodSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { programs } from '../rig/programs.js';
import { pageFiles, scratchProject, shopFiles } from '../rig/scratch-project.js';
import { tempDir } from '../rig/temp-dir.js';

const claude = `
case "$*" in
  --version) echo '2.1.197 (Claude Code)';;
  --help) echo '  auth   x';;
  'auth status') echo '{ "loggedIn": true, "authMethod": "oauth" }';;
  *) exit 9;;
esac`;

it('CL-11 doctor reports missing set-up, init writes it, and then a run works', async () => {
  const project = await scratchProject(pageFiles);
  const PATH = `${programs({ claude })}${path.delimiter}${process.env['PATH'] ?? ''}`;
  const env = { PATH, HOME: tempDir('home') };
  const before = await project.selfHeal(['doctor'], env);
  expect(before.exitCode).toBe(2);
  expect(before.stdout).toMatch(/✓ tests +1 found\n/);
  expect(before.stdout).toMatch(/✗ agents .*\n +→ /);
  const init = await project.selfHeal(['init'], env);
  expect(init.exitCode).toBe(0);
  expect(init.stdout).toMatch(/^wrote \.claude\/commands\/debugger\.md$/m);
  const after = await project.selfHeal(['doctor', '--json'], env);
  expect({ exitCode: after.exitCode, stderr: after.stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(JSON.parse(after.stdout)).toMatchObject({ schemaVersion: 1, ok: true });
  const run = await project.selfHeal(['run'], env);
  expect(run.exitCode).toBe(0);
  for (const [config, line] of [
    ['export default { testDir: "none" };', /✗ tests +the config finds no tests\n +→ .*testDir/],
    ['throw new Error("no config today");', /! tests +the suite cannot start: .*no config today/],
  ] as const) {
    await project.write({ 'playwright.config.ts': config });
    expect((await project.selfHeal(['doctor'], env)).stdout).toMatch(line);
  }
});

it('CF-4 a run with an invalid variable in the environment exits with 2 and runs nothing', async () => {
  const project = await scratchProject(shopFiles);
  const wrong = await project.selfHeal(['run'], { SELF_HEAL_COST_USD: 'many' });
  expect(wrong.exitCode).toBe(2);
  expect(wrong.stderr).toContain('SELF_HEAL_COST_USD: ');
  expect(wrong.events).toEqual([]);
});

// Root may write anywhere.
it.skipIf(process.getuid?.() === 0)(
  'CL-10 init exits with 2 and one message in a read-only project',
  async () => {
    const project = await scratchProject(shopFiles);
    chmodSync(project.dir, 0o555);
    const { exitCode, stderr } = await project.selfHeal(['init', '--agent', 'claude']);
    chmodSync(project.dir, 0o755);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/agents\.yaml cannot be written[\s\S]*→ Make the folder writable/);
  },
);
