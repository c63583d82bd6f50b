import { readdirSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { processesWith } from '../rig/processes-with.js';
import { pageFiles, scratchProject, type ScratchProject } from '../rig/scratch-project.js';
import { tempDir } from '../rig/temp-dir.js';

const names = [
  'drifted locator',
  'real bug',
  'flake',
  'cheat',
  'empty claim',
  'hanging agent',
  'broken neighbor',
];

/** Variables as CI systems and users set them, and a mark by which every process of the self-test is found. */
function surroundings(temp: string, id: string) {
  return {
    TMPDIR: temp,
    SELF_HEAL_RETRIES_MAX: '0',
    GITHUB_ACTIONS: 'true',
    GITHUB_STEP_SUMMARY: path.join(temp, 'summary.md'),
    SELF_TEST_ID: id,
  };
}

it('CL-11 doctor --self-test shows that every guard fires, even in a read-only project, and leaves nothing behind', async () => {
  const project = await scratchProject(pageFiles);
  const temp = tempDir('self-test');
  const before = readdirSync(project.dir).sort();
  await chmod(project.dir, 0o555);
  const { exitCode, stdout, stderr } = await project.selfHeal(
    ['doctor', '--self-test'],
    surroundings(temp, 'whole'),
  );
  await chmod(project.dir, 0o755);
  expect(stderr).toContain('self-heal self-test: planting faults in a scratch copy');
  const lines = stdout.split('\n');
  expect(lines.slice(0, names.length).map((line) => line.slice(0, 2 + 16).trimEnd())).toEqual(
    names.map((name) => `✓ ${name}`),
  );
  expect(stdout).toContain('All 7 guards fired');
  expect(exitCode).toBe(0);
  expect(scratchCopies(temp)).toEqual([]);
  expect(readdirSync(project.dir).sort()).toEqual(before);
  expect(processesWith('SELF_TEST_ID=whole')).toEqual([]);
});

it.runIf(process.platform === 'linux')(
  'CL-11 AG-10 an interrupt ends the self-test and its agents, and removes the scratch copy',
  async () => {
    const project = await scratchProject(pageFiles);
    const temp = tempDir('self-test');
    const running = project.start(['doctor', '--self-test', '--json'], surroundings(temp, 'interrupted'));
    await hangingAgent(running);
    running.kill('SIGINT');
    const { exitCode, stdout } = await running;
    expect(exitCode).toBe(130);
    expect(stdout).toBe('');
    expect(scratchCopies(temp)).toEqual([]);
    expect(processesWith('SELF_TEST_ID=interrupted')).toEqual([]);
  },
);

/** Ignores Playwright's cache, which is in the same folder. */
function scratchCopies(temp: string): string[] {
  return readdirSync(temp).filter((name) => name.startsWith('self-heal-self-test-'));
}

/** Waits until the self-test reports that the hanging agent is working. */
async function hangingAgent(running: ReturnType<ScratchProject['start']>): Promise<void> {
  let output = '';
  await new Promise<void>((resolve) => {
    running.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (/attempt 1: \/hanging .* works/.test(output)) resolve();
    });
  });
}
