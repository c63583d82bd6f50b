import type { Choice } from '../../src/model/choice.js';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { answerEscalation } from '../../src/clients/answer-escalation.js';
import { lockProject } from '../../src/run/project-lock.js';
import type { Store } from '../../src/store/store.js';
import { compiledSrc } from '../rig/compiled-src.js';
import { canMount, withMounts } from '../rig/small-disk.js';
import { tempDir } from '../rig/temp-dir.js';

beforeAll(() => void compiledSrc());

const asked = { command: 'undo', wait: false };

/** A process that holds the lock of a project; `kill` resolves when it is gone. */
async function holderIn(project: string) {
  const code = `
    import { lockProject } from ${JSON.stringify(path.join(compiledSrc(), 'run/project-lock.js'))};
    const lock = await lockProject(${JSON.stringify(project)}, { command: 'run', wait: false });
    await lock.value.setRun('20261122-101500-4f3a');
    setInterval(() => {}, 1000);
    console.log('held');`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(holder, 'exit');
  onTestFinished(() => void holder.kill('SIGKILL'));
  await Promise.race([once(holder.stdout, 'data'), gone]);
  return {
    pid: holder.pid,
    kill: async () => {
      holder.kill('SIGKILL');
      await gone;
    },
  };
}

it('HN-2 names the holder of the lock, and does not take it', async () => {
  const project = tempDir();
  const holder = await holderIn(project);
  const lock = await lockProject(project, asked);
  expect(lock).toMatchObject({ ok: false, error: { kind: 'project-locked' } });
  const { message, remedy } = (lock as { error: { message: string; remedy: string } }).error;
  expect(message).toContain('self-heal run');
  expect(message).toContain('20261122-101500-4f3a');
  expect(message).toContain(`process ${holder.pid}`);
  expect(remedy).toContain('--wait');
});

it('HN-2 takes over the lock of a killed process, and is named as the new holder', async () => {
  const project = tempDir();
  const holder = await holderIn(project);
  await holder.kill();
  const lock = await lockProject(project, asked);
  expect(lock.ok).toBe(true);
  using _ = (lock as { value: Disposable }).value;
  expect(await lockProject(project, asked)).toMatchObject({
    error: { message: expect.stringContaining(`process ${process.pid}`) },
  });
});

it('HN-2 waits until the holder exits, and names it once', async () => {
  const project = tempDir();
  const holder = await holderIn(project);
  const messages: string[] = [];
  const onWait = (text: string) => {
    messages.push(text);
    void holder.kill();
  };
  const lock = await lockProject(project, { command: 'undo', wait: true, onWait });
  expect(lock.ok).toBe(true);
  expect(messages).toEqual([expect.stringContaining(`process ${holder.pid}`)]);
  (lock as { value: Disposable }).value[Symbol.dispose]();
});

it('HN-2 a released lock is free, even if its files were overwritten', async () => {
  const project = tempDir();
  for (const rubbish of ['', 'no database at all, but long enough to be taken for one'.repeat(20)]) {
    const lock = await lockProject(project, asked);
    expect(lock).toMatchObject({ ok: true });
    (lock as { value: Disposable }).value[Symbol.dispose]();
    writeFileSync(path.join(project, '.self-heal', 'lock'), rubbish);
    writeFileSync(path.join(project, '.self-heal', 'lock.json'), rubbish);
  }
});

it('HN-2 a held lock stays held if its files were overwritten, but its holder cannot be named', async () => {
  const project = tempDir();
  await holderIn(project);
  writeFileSync(path.join(project, '.self-heal', 'lock'), 'rubbish'.repeat(200));
  writeFileSync(path.join(project, '.self-heal', 'lock.json'), '{"pid":');
  expect(await lockProject(project, asked)).toMatchObject({
    error: { kind: 'project-locked', message: expect.stringContaining('another self-heal') },
  });
});

it.runIf(canMount)(
  'HN-2 a lock file without write permission, such as another user’s, does not count as held',
  async () => {
    const place = tempDir();
    const program = `
    import { lockProject } from ${JSON.stringify(path.join(compiledSrc(), 'run/project-lock.js'))};
    const lock = await lockProject('.', { command: 'run', wait: false });
    console.log(lock.ok ? 'held' : lock.error.kind);`;
    writeFileSync(path.join(place, 'program.mjs'), program);
    const script = `
    mkdir .self-heal && : > .self-heal/lock
    mount --bind .self-heal/lock .self-heal/lock && mount -o remount,bind,ro .self-heal/lock || exit 99
    "$NODE" program.mjs; umount .self-heal/lock; "$NODE" program.mjs`;
    const env = { PATH: process.env['PATH'] ?? '', HOME: place, NODE: process.execPath };
    const { stdout, stderr } = await withMounts(script, place, env);
    expect(stdout.split('\n'), stderr).toEqual(['folder-not-writable', 'held']);
  },
);

it('ME-7 choosing a patch while another run holds the lock leaves the question open', async () => {
  const project = tempDir();
  vi.spyOn(process, 'cwd').mockReturnValue(project);
  onTestFinished(() => void vi.restoreAllMocks());
  const answerStored = vi.fn(async (id: string) => ({ id, runId: 'none', state: 'resolved' }));
  const store = { answerEscalation: answerStored } as unknown as Store;
  const answer = (choice: Choice) => answerEscalation(store, 'e1', { choice, guidance: null });
  const holder = await holderIn(project);
  expect(await answer('whole')).toMatchObject({
    error: { kind: 'project-locked', message: expect.stringContaining('`self-heal run`') },
  });
  expect(answerStored).not.toHaveBeenCalled();
  expect(await answer('guide')).toMatchObject({ ok: true, value: { lock: null } });

  await holder.kill();
  const answered = await answer('whole');
  const held = await lockProject(project, asked);
  expect(held).toMatchObject({ error: { message: expect.stringContaining('escalations resolve') } });
  if (answered.ok) answered.value.lock?.[Symbol.dispose]();
  answerStored.mockRejectedValueOnce(new Error('disk full'));
  await expect(answer('whole')).rejects.toThrow('disk full');
  expect(await lockProject(project, asked)).toMatchObject({ ok: true });
});
