import { readdirSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { agentsYaml, editingAgent, scratchProject, shopFiles } from '../rig/scratch-project.js';
import { agentStarted, isAlive, worker } from '../rig/working-agent.js';

const broken = { 'page.html': '<button id="buy" onclick="this.textContent = \'Tanks\'">Buy</button>' };
const tomorrow = new Date(Date.now() + 86_400_000);

it.runIf(process.platform === 'linux')(
  'HN-2 AG-10 killed with SIGKILL while its agent works: the next command ends the agent, takes its change back, and leaves later edits',
  async () => {
    const project = await scratchProject({
      ...shopFiles,
      ...broken,
      'notes.txt': 'before\n',
      'worker.mjs': worker,
      'agents.yaml': agentsYaml(['node', 'worker.mjs']),
    });
    const running = project.start(['run']);
    const pids = await agentStarted(project);
    running.kill('SIGKILL');
    await running;
    expect(pids.map(isAlive)).toEqual([true, true]);
    await project.write({ 'notes.txt': 'written by the user later\n' });
    await utimes(path.join(project.dir, 'notes.txt'), tomorrow, tomorrow);
    const { stderr, stdout, exitCode } = await project.selfHeal(['undo']);
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(await project.read('page.html')).toBe(broken['page.html']);
    expect(await project.read('notes.txt')).toBe('written by the user later\n');
    expect(stderr).toMatch(/was killed at work\n.*was taken back: .*page\.html/);
    expect(stderr).toContain('left as they are, because they changed since: notes.txt');
    expect(stdout).toContain('nothing to undo');
    expect(exitCode).toBe(0);
    const [run = ''] = readdirSync(path.join(project.dir, '.self-heal/runs'));
    expect(await project.read(`.self-heal/runs/${run}/recovered.patch`)).toContain('+half a fix');
    const again = await project.selfHeal(['undo']);
    expect(again.stderr).not.toContain('killed');
  },
);

/** Green when the fix is in; red before; and where the fix is out again, it says so in a file and waits to be killed. */
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

it.runIf(process.platform === 'linux')(
  'HN-2 HN-5 killed with SIGKILL while the fix is out for its proof: the next command leaves it out, and says where it is',
  async () => {
    const project = await scratchProject({
      ...shopFiles,
      ...broken,
      '.gitignore': 'node_modules\ntest-results\n*.fixed\nagent.started\n',
      'tests/shop.spec.ts': waiting,
      'fixer.mjs': editingAgent([['page.html', 'Tanks', 'Thanks']]),
      'agents.yaml': agentsYaml(['node', 'fixer.mjs'], 'verify: { repeat: 1, ring: none }'),
    });
    const running = project.start(['run']);
    const pids = await agentStarted(project);
    running.kill('SIGKILL');
    await running;
    const { stderr } = await project.selfHeal(['undo']);
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(await project.read('page.html')).toBe(broken['page.html']);
    expect(stderr).toMatch(/was killed at work\n.*was out already, for the proof[^]*recovered\.patch/);
    const [run = ''] = readdirSync(path.join(project.dir, '.self-heal/runs'));
    expect(await project.read(`.self-heal/runs/${run}/recovered.patch`)).toContain('Thanks');
  },
);

it('HN-8 HN-1 undo takes back what the agents of a run changed, .env files too, and leaves what you changed since', async () => {
  const project = await scratchProject({
    ...shopFiles,
    ...broken,
    '.gitignore': 'node_modules\ntest-results\n.env\n',
    '.env': 'SHOP=old\n',
    'mine.txt': 'a\n',
    'fixer.mjs': editingAgent([
      ['page.html', 'Tanks', 'Thanks'],
      ['.env', 'old', 'new'],
      ['mine.txt', 'a', 'b'],
    ]),
    'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
  });
  expect((await project.selfHeal(['run'])).exitCode).toBe(0);
  expect(await project.read('.env')).toBe('SHOP=new\n');
  await project.write({ 'mine.txt': 'c\n' });
  const { exitCode, stdout } = await project.selfHeal(['undo']);
  expect(stdout).toMatch(/undone[^]*\.env\n {2}page\.html\nleft as they are[^]*mine\.txt/);
  expect(exitCode).toBe(1);
  expect(await project.read('page.html')).toBe(broken['page.html']);
  expect(await project.read('.env')).toBe('SHOP=old\n');
  expect(await project.read('mine.txt')).toBe('c\n');
  const again = await project.selfHeal(['undo']);
  expect(again.stdout).toContain('as before already');
});
