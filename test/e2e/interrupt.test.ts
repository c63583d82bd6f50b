import { expect, it } from 'vitest';
import { agentsYaml, scratchProject, shopFiles } from '../rig/scratch-project.js';
import { agentStarted, appears, isAlive } from '../rig/working-agent.js';

const broken = { 'page.html': '<p>nothing to buy</p>' };

it.runIf(process.platform === 'linux')(
  'AG-10 CL-5 a second SIGINT kills the agent at once, and the run still writes its report',
  async () => {
    const project = await scratchProject({
      ...shopFiles,
      ...broken,
      'agents.yaml': agentsYaml(['node', 'slow-to-end.mjs']),
    });
    await project.write({
      'slow-to-end.mjs': `
        import { writeFileSync } from 'node:fs';
        process.chdir(${JSON.stringify(project.dir)});
        // The second signal comes late enough not to count as the first one sent twice.
        process.on('SIGTERM', () => {
          setTimeout(() => writeFileSync('asked', ''), 1500);
          setTimeout(() => process.exit(writeFileSync('finished', '')), 4000);
        });
        writeFileSync('agent.started', process.pid + ' ' + process.pid);
        setInterval(() => {}, 1000);`,
    });
    const running = project.start(['run']);
    const [pid = 0] = await agentStarted(project);
    running.kill('SIGINT');
    await appears(project, 'asked');
    running.kill('SIGINT');
    const { exitCode } = await running;
    expect(exitCode).toBe(130);
    expect(isAlive(pid)).toBe(false);
    await expect(project.read('finished')).rejects.toThrow();
    const report = JSON.parse(await project.read('.self-heal/latest/report.json')) as {
      outcome: string;
      causes: { verdict: string; reason: string }[];
    };
    expect(report.outcome).toBe('interrupted');
    expect(report.causes).toMatchObject([{ verdict: 'interrupted' }]);
  },
);
