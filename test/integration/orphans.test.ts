import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findOwnedProcesses, endOwnedProcesses } from '../../src/process/end-processes.js';
import { supervise, type ProgramEnd } from '../../src/process/supervise.js';
import { tempDir } from '../rig/temp-dir.js';
import { isAlive } from '../rig/working-agent.js';

/** Writes its pid into the given file and then becomes `sleep`. */
const sleeper = 'echo $$ > "$1"; exec sleep 1000';

/** Ways in which an agent's shell may start a program that outlives it. Each loses more of what shows whose it is. */
const waysOut: Record<string, string> = {
  'in the background': 'sh sleeper pid &',
  'without its environment, in a session of its own': 'env -i setsid sh sleeper pid &',
  'forked twice': '(env -i setsid sh -c "sh sleeper pid & exit" &)',
  'as a daemon: forked twice, in a session of its own, in the root folder, with no file open':
    'setsid sh -c \'cd /; sh "$1/sleeper" "$1/pid" & exit\' sh "$PWD" >&- 2>&- <&- &',
  'ignoring TERM, HUP and INT': 'env -i setsid sh -c "trap \'\' TERM HUP INT; sh sleeper pid" &',
};

/** Runs a shell script as an agent in a folder, to its end. */
async function runScript(script: string, dir: string, runId = `run of ${dir}`): Promise<ProgramEnd> {
  return supervise({
    file: 'sh',
    args: ['-c', script],
    cwd: dir,
    env: { PATH: process.env['PATH'] },
    input: '',
    runId,
    workDir: dir,
    timeoutMs: 20_000,
    graceMs: 300,
    signal: new AbortController().signal,
    onStart: () => undefined,
    onOutput: () => undefined,
  }).ended;
}

describe.runIf(process.platform === 'linux')('a process that an agent left', () => {
  it.each(Object.entries(waysOut))('AG-10 %s is ended and named', async (_, script) => {
    const dir = tempDir();
    writeFileSync(path.join(dir, 'sleeper'), sleeper);
    const untilItRuns = 'until [ -s pid ] && ps -A | grep -q "$(cat pid) .*sleep"; do :; done';
    const { end, orphans } = await runScript(`${script}\n${untilItRuns}`, dir);
    expect(end).toEqual({ kind: 'exited', exitCode: 0 });
    const pid = Number(readFileSync(path.join(dir, 'pid'), 'utf8'));
    expect(orphans).toContain(`${pid} sleep`);
    expect(isAlive(pid)).toBe(false);
  });

  it('AG-10 is found by its working folder if it has no living ancestor', async () => {
    const dir = tempDir();
    const pid = await orphanIn(dir);
    expect((await runScript('true', dir)).orphans).toEqual([`${pid} sleep`]);
    expect(isAlive(pid)).toBe(false);
  });

  it('AG-10 is not a process of the user, which has a parent or another working folder', async () => {
    const dir = tempDir();
    const looking = spawn('sleep', ['1000'], { cwd: dir });
    onTestFinished(() => void looking.kill());
    const elsewhere = await orphanIn(tempDir());
    expect((await runScript('true', dir)).orphans).toEqual([]);
    expect([looking.pid!, elsewhere].map(isAlive)).toEqual([true, true]);
  });

  it('AG-10 belongs to one run, and any other process finds it by the run’s id', async () => {
    const [mine, other] = ['a', 'b'].map((name) => {
      const one = start(`run ${name} ${process.pid}`);
      onTestFinished(() => endOwnedProcesses({ runId: one.runId }).then(() => undefined));
      return one;
    }) as [ReturnType<typeof start>, ReturnType<typeof start>];
    const [pid, otherPid] = await Promise.all([mine.started, other.started]);
    expect(await endOwnedProcesses({ runId: mine.runId })).toEqual([expect.stringMatching(`^${pid} `)]);
    expect(await findOwnedProcesses({ runId: mine.runId })).toEqual([]);
    expect(isAlive(otherPid)).toBe(true);
    expect(await mine.ended).toMatchObject({ end: { kind: 'signalled' } });
  });
});

function start(runId: string) {
  let onStart: (pid: number) => void = () => undefined;
  const started = new Promise<number>((resolve) => (onStart = resolve));
  const { ended } = supervise({
    file: 'sleep',
    args: ['1000'],
    cwd: tempDir(),
    env: { PATH: process.env['PATH'] },
    input: '',
    runId,
    timeoutMs: 60_000,
    graceMs: 300,
    signal: new AbortController().signal,
    onStart,
    onOutput: () => undefined,
  });
  return { runId, started, ended };
}

/** Starts a process in a folder that nobody supervises or waits for; it is killed after the test. */
async function orphanIn(dir: string): Promise<number> {
  // `setsid` needs a moment to become `sleep`.
  const script =
    'setsid sleep 1000 >/dev/null & until ps -o comm= -p $! | grep -q sleep; do :; done; echo $!';
  const shell = spawn('sh', ['-c', script], { cwd: dir });
  const [text] = (await once(shell.stdout, 'data')) as [Buffer];
  await once(shell, 'exit');
  const pid = Number(text.toString());
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid);
  });
  return pid;
}
