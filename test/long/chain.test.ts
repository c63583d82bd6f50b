import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { agentsYaml, scratchProject, shopFiles } from '../rig/scratch-project.js';
import { waitForAgentPids, isAlive } from '../rig/working-agent.js';

// The first agent deletes what the test needs, so that the error changes; the agent of the second error cannot mend it.
const prices = {
  ...shopFiles,
  '.gitignore': 'node_modules\ntest-results\nagent.started\nprompts\n',
  'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
  'prices/tea.txt': '3.00\n',
  'tests/shop.spec.ts': `
    import { test, expect } from '@playwright/test';
    import { readFileSync } from 'node:fs';
    test('knows what tea costs', () => {
      const price = readFileSync('prices/tea.txt', 'utf8');
      expect(price.trim()).toBe('2.50');
    });`,
};

const agent = (then: string) => `
  import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
  const restored = () => { mkdirSync('prices', { recursive: true }); writeFileSync('prices/tea.txt', '2.50\\n'); };
  if (existsSync('prices/tea.txt')) rmSync('prices', { recursive: true });
  else { ${then} }
  console.log('SELF-HEAL: ' + JSON.stringify({ status: 'fixed', summary: 'edited' }));`;

it.runIf(process.platform === 'linux')(
  'HN-1 HN-2 HL-3 HN-8 a chain of attempts leaves nothing after a SIGKILL, or after an undo',
  async () => {
    const waits =
      "writeFileSync(process.env.PLACE + '/agent.started', process.pid + ' ' + process.ppid); setInterval(() => {}, 1000); await new Promise(() => {});";
    const project = await scratchProject({ ...prices, 'fixer.mjs': agent(waits) });
    const running = project.start(['run'], { PLACE: project.dir });
    const pids = await waitForAgentPids(project);
    expect(existsSync(path.join(project.dir, 'prices/tea.txt'))).toBe(false);
    running.kill('SIGKILL');
    await running;
    await vi.waitFor(() => expect(pids.map(isAlive)).toEqual([false, false]), { timeout: 60_000 });
    await project.write({ 'fixer.mjs': agent('restored()') });
    const { stderr, report, exitCode } = await project.selfHeal(['run']);
    expect(stderr).toContain('reverted an unproven change: prices/tea.txt');
    expect(report?.causes).toMatchObject([{ verdict: 'superseded' }, { verdict: 'healed', parent: 'c1' }]);
    expect(report?.totals.agentRuns).toBe(2);
    const prompt = await project.read(`.self-heal/latest/${report?.causes[1]?.attempts[0]?.prompt}`);
    expect(prompt).toContain('-3.00');
    expect(await project.read('prices/tea.txt')).toBe('2.50\n');
    expect(exitCode).toBe(0);
    await project.selfHeal(['undo', '--yes']);
    expect(await project.read('prices/tea.txt')).toBe('3.00\n');
  },
);
