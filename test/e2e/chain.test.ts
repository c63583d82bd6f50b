import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { agentsYaml, scratchProject, shopFiles } from '../rig/scratch-project.js';
import { agentStarted, isAlive } from '../rig/working-agent.js';

// The first agent deletes what the test needs, so that the error changes; the agent of the second error cannot mend it.
const prices = {
  ...shopFiles,
  '.gitignore': 'node_modules\ntest-results\nagent.started\nprompts\n',
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

const withAgent = (then: string, more = '') =>
  scratchProject({
    ...prices,
    'fixer.mjs': agent(then),
    'agents.yaml': agentsYaml(['node', 'fixer.mjs'], more),
  });

describe('a chain of attempts', () => {
  it('HN-1 HL-3 is kept if it does, and its next agent is told what led to the error', async () => {
    const project = await withAgent('restored()', 'verify: { repeat: 1, regression: none }');
    const { exitCode, report, stderr } = await project.selfHeal(['run']);
    expect(report?.causes, stderr).toMatchObject([
      { verdict: 'superseded', attempts: [{ judged: 'changed', reverted: false }] },
      { verdict: 'healed', parent: 'c1' },
    ]);
    expect(await project.read('prices/tea.txt')).toBe('2.50\n');
    const prompt = await project.read(`.self-heal/latest/${report?.causes[1]?.attempts[0]?.prompt}`);
    expect(prompt).toContain('-3.00');
    expect(exitCode).toBe(0);
    await project.selfHeal(['undo', '--yes']);
    expect(await project.read('prices/tea.txt')).toBe('3.00\n');
  });

  it.runIf(process.platform === 'linux')(
    'HN-1 HN-2 leaves nothing after a SIGKILL, and resume begins with it',
    async () => {
      const waits =
        "writeFileSync(process.env.PLACE + '/agent.started', process.pid + ' ' + process.ppid); setInterval(() => {}, 1000); await new Promise(() => {});";
      const project = await withAgent(waits);
      const running = project.start(['run'], { PLACE: project.dir });
      const pids = await agentStarted(project);
      expect(existsSync(path.join(project.dir, 'prices/tea.txt'))).toBe(false);
      running.kill('SIGKILL');
      await running;
      await vi.waitFor(() => expect(pids.map(isAlive)).toEqual([false, false]), { timeout: 10_000 });
      await project.write({ 'fixer.mjs': agent('restored()') });
      const { stderr, report, exitCode } = await project.selfHeal(['resume']);
      expect(stderr).toContain('reverted an unproven change: prices/tea.txt');
      expect(report?.causes).toMatchObject([{ verdict: 'superseded' }, { verdict: 'healed' }]);
      expect(report?.totals.agentRuns).toBe(1);
      expect(await project.read('prices/tea.txt')).toBe('2.50\n');
      expect(exitCode).toBe(0);
    },
  );
});
