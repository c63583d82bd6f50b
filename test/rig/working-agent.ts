import { readdirSync, readFileSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import path from 'node:path';
import { readProcessTable } from '../../src/process/proc-table.js';
import type { ScratchProject } from './scratch-project.js';

/**
 * Returns the source of an agent that edits a file of its copy, starts a tool in another session as real agents do, writes both pids to a file
 * of the project, and never ends.
 */
export const workingAgent = (projectDir: string) => `
  import { spawn } from 'node:child_process';
  import { writeFileSync } from 'node:fs';
  writeFileSync('page.html', 'half a fix');
  const tool = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
  writeFileSync(${JSON.stringify(path.join(projectDir, 'agent.started'))}, process.pid + ' ' + tool.pid);
  setInterval(() => {}, 1000);`;

/** Returns the pids of the agent and its tool as soon as the agent has written them. */
export async function waitForAgentPids(project: ScratchProject): Promise<number[]> {
  await waitForFile(project, 'agent.started');
  for (;;) {
    const pids = (await project.read('agent.started')).split(' ').map(Number);
    if (pids.length === 2) return pids;
  }
}

/** Waits until there is a file of this name in the project's folder. */
export async function waitForFile(project: ScratchProject, name: string): Promise<void> {
  const exists = () => readdirSync(project.dir).includes(name);
  if (exists()) return;
  const changes = watch(project.dir);
  // It may have appeared before the watch began.
  if (!exists()) for await (const _ of changes) if (exists()) break;
}

/** Whether a process is alive, and not just waiting to be reaped. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(path.join('/proc', String(pid), 'status'), 'utf8'));
  } catch {
    return false;
  }
}

/** Kills the watchdog of a run, so that only the next command cleans up after the run. */
export async function killWatchdog(run: number | undefined): Promise<void> {
  const children = (await readProcessTable()).filter(({ parent }) => parent === run);
  const watchdog = children.find(({ pid }) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('self-heal-watchdog'),
  );
  process.kill(watchdog!.pid, 'SIGKILL');
}
