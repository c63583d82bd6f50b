import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readProcessTable } from '../../src/process/proc-table.js';
import { compiledSrc } from '../rig/compiled-src.js';
import { tempDir } from '../rig/temp-dir.js';
import { isAlive } from '../rig/working-agent.js';

beforeAll(() => void compiledSrc());

/** An agent that ignores TERM and has started a program with nothing that shows whose it is. */
const agent = `
  env -i setsid sh -c 'cd /; sleep 1000 & echo $! > "$1/pid"; wait' sh "$PWD" >/dev/null 2>&1 <&- &
  until [ -s pid ]; do :; done
  echo started $$ $(cat pid)
  trap '' TERM; while :; do sleep 1000; done`;

/** A self-heal process that has only started a watchdog and an agent. */
function selfHeal(copy: string, then: string): ChildProcess {
  const src = (file: string) => JSON.stringify(path.join(compiledSrc(), file));
  const code = `
    import { startWatchdog } from ${src('run/watchdog.js')};
    import { supervise } from ${src('process/supervise.js')};
    const watchdog = startWatchdog({ runId: 'run ' + process.pid, dir: ${JSON.stringify(path.dirname(copy))} });
    watchdog.watch([${JSON.stringify(copy)}]);
    const base = { cwd: ${JSON.stringify(copy)}, env: { PATH: process.env.PATH }, input: '', runId: 'run ' + process.pid,
      timeoutMs: 60000, graceMs: 300, signal: new AbortController().signal, onStart: () => {} };
    const onOutput = (chunk) => process.stdout.write(chunk);
    const agent = supervise({ ...base, file: 'sh', args: ['-c', ${JSON.stringify(agent)}], onOutput });
    ${then}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function agentOf(child: ChildProcess): Promise<{ pids: number[]; watchdog: number }> {
  const [text] = (await once(child.stdout!, 'data')) as [Buffer];
  const pids = text.toString().trim().split(' ').slice(1).map(Number);
  // Nothing shows whose the second program is, so that no one else ends it.
  onTestFinished(() => {
    for (const pid of pids) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  const children = (await readProcessTable()).filter(({ parent }) => parent === child.pid);
  const watchdog = children.find(({ pid }) => commandLine(pid).includes('self-heal-watchdog'));
  return { pids, watchdog: watchdog!.pid };
}

function commandLine(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
}

function copyFolder(): string {
  const copy = path.join(tempDir(), 'self-heal-copy');
  mkdirSync(path.join(copy, '.self-heal-copy'), { recursive: true });
  mkdirSync(path.join(copy, 'src'));
  mkdirSync(path.join(copy, '..', 'suites', '1', 'output'), { recursive: true });
  writeFileSync(path.join(copy, 'src', 'a.txt'), 'a');
  return copy;
}

/** Resolves when the condition holds; only the timeout of the test bounds the wait. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setImmediate();
}

describe.runIf(process.platform === 'linux')('the watchdog', () => {
  it('AG-10 EV-9 ends the processes of a killed run, and deletes its copy and unmasked files', async () => {
    const copy = copyFolder();
    const child = selfHeal(copy, '');
    const { pids, watchdog } = await agentOf(child);
    expect(pids.map(isAlive)).toEqual([true, true]);
    expect(residentKb(watchdog)).toBeLessThan(30 * 1024);
    child.kill('SIGKILL');
    await until(() => !isAlive(watchdog));
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(existsSync(copy)).toBe(false);
    expect(existsSync(path.join(copy, '..', 'suites', '1', 'output'))).toBe(false);
  });

  it('AG-10 exits without any change when the run ends by itself', async () => {
    const copy = copyFolder();
    const child = selfHeal(copy, 'await agent.ended; watchdog.markEnded(); watchdog[Symbol.dispose]();');
    const { pids, watchdog } = await agentOf(child);
    const [agentPid = 0] = pids;
    process.kill(agentPid, 'SIGKILL');
    const [exitCode] = (await once(child, 'exit')) as [number];
    expect(exitCode).toBe(0);
    await until(() => !isAlive(watchdog));
    expect(existsSync(path.join(copy, 'src', 'a.txt'))).toBe(true);
  });

  it('AG-10 EV-9 cleans up if the run throws', async () => {
    const copy = copyFolder();
    const child = selfHeal(copy, `process.once('SIGTERM', () => watchdog[Symbol.dispose]());`);
    const { pids, watchdog } = await agentOf(child);
    child.kill('SIGTERM');
    await until(() => !isAlive(watchdog));
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(existsSync(copy)).toBe(false);
  });

  it('AG-10 does not keep self-heal from exiting', async () => {
    const child = selfHeal(copyFolder(), 'agent.stop(); await agent.ended;');
    const [exitCode] = (await once(child, 'exit')) as [number];
    expect(exitCode).toBe(0);
  });
});

function residentKb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
