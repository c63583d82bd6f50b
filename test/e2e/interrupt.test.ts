import { expect, it } from 'vitest';
import { agentsYaml, scratchProject, shopFiles } from '../rig/scratch-project.js';
import { agentStarted, isAlive, worker } from '../rig/working-agent.js';

const broken = { 'page.html': '<p>nothing to buy</p>' };

it.runIf(process.platform === 'linux').each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  'AG-10 CL-5 %s ends the agent and its tools, leaves no change of theirs, and exits with %d',
  async (signal, code) => {
    const project = await scratchProject({
      ...shopFiles,
      ...broken,
      'agents.yaml': agentsYaml(['node', 'worker.mjs']),
    });
    await project.write({ 'worker.mjs': worker(project.dir) });
    const running = project.start(['run']);
    const pids = await agentStarted(project);
    expect(pids.map(isAlive)).toEqual([true, true]);
    running.kill(signal);
    const { exitCode } = await running;
    expect(exitCode).toBe(code);
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(await project.read('page.html')).toBe(broken['page.html']);
    const report = JSON.parse(await project.read('.self-heal/latest/report.json')) as { outcome: string };
    expect(report.outcome).toBe('interrupted');
  },
);
