import { readdirSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { SelfTest } from '../../src/doctor/self-test.js';
import { processesWith } from '../rig/processes-with.js';
import { pageFiles, scratchProject, type ScratchProject } from '../rig/scratch-project.js';
import { tempDir } from '../rig/temp-dir.js';

/** Variables as CI systems and users set them, and a mark by which every process of the self-test is found. */
function surroundings(temp: string, id: string) {
  return {
    TMPDIR: temp,
    SELF_HEAL_VERIFY: 'none',
    GITHUB_ACTIONS: 'true',
    GITHUB_STEP_SUMMARY: path.join(temp, 'summary.md'),
    SELF_TEST_ID: id,
  };
}

it('CL-11 doctor --self-test shows that every bad fix is caught, even in a read-only project, and leaves nothing behind', async () => {
  const project = await scratchProject(pageFiles);
  const temp = tempDir('self-test');
  const before = readdirSync(project.dir).sort();
  await chmod(project.dir, 0o555);
  const { exitCode, stdout } = await project.selfHeal(
    ['doctor', '--self-test', '--json'],
    surroundings(temp, 'whole'),
  );
  await chmod(project.dir, 0o755);
  const { results, kept } = JSON.parse(stdout) as SelfTest;
  expect({ missed: results.filter(({ held }) => !held), kept }).toEqual({ missed: [], kept: null });
  expect(results.map(({ name }) => name)).toEqual([
    'loosen',
    'skip',
    'ask',
    'claim',
    'hang',
    'break',
    'flake',
  ]);
  expect(exitCode).toBe(0);
  expect(scratchCopies(temp)).toEqual([]);
  expect(readdirSync(project.dir).sort()).toEqual(before);
  expect(processesWith('SELF_TEST_ID=whole')).toEqual([]);
});

it('CL-11 doctor --self-test says what to do if it has no place for its scratch project', async () => {
  const project = await scratchProject(pageFiles);
  const { exitCode, stderr } = await project.selfHeal(['doctor', '--self-test'], { TMPDIR: '/nowhere' });
  expect(exitCode).toBe(2);
  expect(stderr).toContain('TMPDIR');
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
      if (/c5 attempt 1: .* is working/.test(output)) resolve();
    });
  });
}
