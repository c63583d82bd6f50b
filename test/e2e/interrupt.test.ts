import { readdirSync, readFileSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { agentsYaml, scratchProject, shopFiles, type ScratchProject } from '../rig/scratch-project.js';

const broken = { 'page.html': '<p>nothing to buy</p>' };

/** Edits a file, starts a tool in a session of its own as real agents do, says so in a file, and works on. */
const worker = `
  import { spawn } from 'node:child_process';
  import { appendFileSync, writeFileSync } from 'node:fs';
  writeFileSync('page.html', 'half a fix');
  const tool = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
  writeFileSync('agent.started', process.pid + ' ' + tool.pid);
  setInterval(() => {}, 1000);`;

async function agentStarted(project: ScratchProject): Promise<number[]> {
  const there = () => readdirSync(project.dir).includes('agent.started');
  if (!there()) {
    for await (const _ of watch(project.dir)) if (there()) break;
  }
  for (;;) {
    const pids = (await project.read('agent.started')).split(' ').map(Number);
    if (pids.length === 2) return pids;
  }
}

/** Alive, and not merely waiting to be reaped. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(path.join('/proc', String(pid), 'status'), 'utf8'));
  } catch {
    return false;
  }
}

it.runIf(process.platform === 'linux').each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  'AG-10 CL-5 %s ends the agent and its tools, takes its change back, and exits %d',
  async (signal, code) => {
    const project = await scratchProject({
      ...shopFiles,
      ...broken,
      'worker.mjs': worker,
      'agents.yaml': agentsYaml(['node', 'worker.mjs']),
    });
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
