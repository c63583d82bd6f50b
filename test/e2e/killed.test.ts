import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { findCopies } from '../../src/workspace/copy-folder.js';
import { isLong } from '../rig/long.js';
import { agentsYaml, editingAgent, scratchProject, shopFiles } from '../rig/scratch-project.js';
import { agentStarted, isAlive, killWatchdogOf, worker } from '../rig/working-agent.js';

const broken = { 'page.html': '<button id="buy" onclick="this.textContent = \'Tanks\'">Buy</button>' };

/** A run whose agent is working, and the folder of that agent's copy. */
async function atWork() {
  const project = await scratchProject({
    ...shopFiles,
    ...broken,
    'notes.txt': 'before\n',
    'agents.yaml': agentsYaml(['node', 'worker.mjs']),
  });
  await project.write({ 'worker.mjs': worker(project.dir) });
  const running = project.start(['run']);
  const pids = await agentStarted(project);
  const [copy = ''] = await findCopies(project.dir);
  expect(pids.map(isAlive)).toEqual([true, true]);
  expect(readFileSync(path.join(copy, 'copy', path.basename(project.dir), 'page.html'), 'utf8')).toBe(
    'half a fix',
  );
  return { project, running, pids, copy };
}

/** Waits for what the watchdog does without another command. */
function soon(holds: () => void): Promise<void> {
  return vi.waitFor(holds, { timeout: 60_000, interval: 50 });
}

it.runIf(process.platform === 'linux')(
  'HN-2 AG-10 RP-2 a SIGKILL while the agent works leaves a report, but no process and no copy',
  async () => {
    const { project, running, pids, copy } = await atWork();
    expect(await project.selfHeal(['report'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('still running'),
    });
    running.kill('SIGKILL');
    await running;
    await soon(() => {
      expect(pids.map(isAlive)).toEqual([false, false]);
      expect(existsSync(copy)).toBe(false);
    });
    expect(await project.read('page.html')).toBe(broken['page.html']);
    const { stdout: json } = await project.selfHeal(['report', '--json']);
    expect(JSON.parse(json)).toMatchObject({
      outcome: 'interrupted',
      exitCode: null,
      tests: [{ verdict: 'failed', causeId: 'c1' }],
      causes: [{ id: 'c1', verdict: 'interrupted', reason: expect.stringContaining('the run stopped at: ') }],
      totals: { tests: 1, failed: 1, playwrightRuns: 2, agentRuns: 1 },
    });
    await project.write({ 'notes.txt': 'written by the user later\n' });
    const { stderr, stdout, exitCode } = await project.selfHeal(['undo', '--yes']);
    expect(stderr).toBe('');
    expect(stdout).toContain('nothing to undo');
    expect(exitCode).toBe(0);
    expect(await project.read('page.html')).toBe(broken['page.html']);
    expect(await project.read('notes.txt')).toBe('written by the user later\n');
  },
);

it.runIf(isLong && process.platform === 'linux')(
  'HN-2 AG-10 after a SIGKILL of run and watchdog, the next command ends the agent',
  async () => {
    const { project, running, pids, copy } = await atWork();
    await killWatchdogOf(running.pid);
    running.kill('SIGKILL');
    await running;
    expect(pids.map(isAlive)).toEqual([true, true]);
    const { stderr, stdout, exitCode } = await project.selfHeal(['undo', '--yes']);
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(existsSync(copy)).toBe(false);
    expect(await project.read('page.html')).toBe(broken['page.html']);
    expect(stderr).toContain(
      'cleaned up after an earlier run that was killed\n  stopped a leftover process of run',
    );
    expect(stdout).toContain('nothing to undo');
    expect(exitCode).toBe(0);
    const again = await project.selfHeal(['undo', '--yes']);
    expect(again.stderr).not.toContain('killed');
  },
);

/** Green with the fix and red without it. Once it was green, it waits while it is red, to be killed there. */
const waiting = `
  import { test, expect } from '@playwright/test';
  import { existsSync, readFileSync, writeFileSync } from 'node:fs';
  test('thanks', async () => {
    const isFixed = readFileSync('page.html', 'utf8').includes('Thanks');
    if (isFixed) writeFileSync('was.fixed', '');
    else if (existsSync('was.fixed')) {
      writeFileSync('agent.started', process.pid + ' ' + process.ppid);
      await new Promise(() => setInterval(() => {}, 1000));
    }
    expect(isFixed, 'it thanks').toBe(true);
  });`;

it.runIf(isLong && process.platform === 'linux')(
  'HN-2 HN-5 after a SIGKILL during a proof, the next command leaves the fix out and keeps its patch',
  async () => {
    const project = await scratchProject({
      ...shopFiles,
      ...broken,
      '.gitignore': 'node_modules\ntest-results\n*.fixed\nagent.started\n',
      'tests/shop.spec.ts': waiting,
      'fixer.mjs': editingAgent([['page.html', 'Tanks', 'Thanks']]),
      'agents.yaml': agentsYaml(['node', 'fixer.mjs'], 'verify: { repeat: 1, regression: none }'),
    });
    const running = project.start(['run']);
    const pids = await agentStarted(project);
    running.kill('SIGKILL');
    await running;
    await soon(() => expect(pids.map(isAlive)).toEqual([false, false]));
    expect(await project.read('page.html')).toBe(broken['page.html']);
    const { stderr } = await project.selfHeal(['undo', '--yes']);
    expect(await project.read('page.html')).toBe(broken['page.html']);
    expect(stderr).not.toContain('page.html');
    expect(existsSync(path.join(project.dir, '.self-heal/journal.json'))).toBe(false);
    const [run = ''] = readdirSync(path.join(project.dir, '.self-heal/runs'));
    const patch = await project.read(`.self-heal/runs/${run}/attempts/1.patch`);
    expect(patch).toMatch(/^\+.*Thanks/m);
  },
);
