import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { agentsYaml, scratchProject } from '../rig/scratch-project.js';
import { agentStarted, isAlive } from '../rig/working-agent.js';

/** An app without a page that greets the name that the test types. With any other input it waits, while `is-waiting` exists. */
const files = {
  'package.json': '{ "name": "scratch", "type": "module" }',
  '.gitignore': 'node_modules\ntest-results\nagent.started\nis-waiting\n',
  'playwright.config.ts': `
    import { defineConfig } from '@playwright/test';
    export default defineConfig({ testDir: 'tests', workers: 1, timeout: 120_000, reporter: [['list']] });`,
  'tests/greet.spec.ts': `
    import { test, expect } from '@playwright/test';
    import { form } from '../greet.mjs';
    test('greets', async () => {
      await form.fill('Ada');
      expect(form.said()).toBe('Hello Ada');
    });
`,
  'wait.mjs': `
    import { existsSync, writeFileSync } from 'node:fs';
    export async function typed(name) {
      if (name === 'Ada' || !existsSync('is-waiting')) return;
      writeFileSync('agent.started', process.pid + ' ' + process.ppid);
      await new Promise(() => setInterval(() => {}, 1000));
    }`,
  'greet.mjs': `
    import { typed } from './wait.mjs';
    let name = '';
    const greet = () => 'Hi';
    export const form = { fill: (text) => typed((name = text)), said: () => greet(name) };
`,
  'fixer.mjs': `
    import { readFileSync, writeFileSync } from 'node:fs';
    const isTold = readFileSync(0, 'utf8').includes('## Rejected');
    const fix = isTold ? "'Hello ' + name" : "(name === 'Ada' ? 'Hello Ada' : 'Hi')";
    writeFileSync('greet.mjs', readFileSync('greet.mjs', 'utf8').replace("'Hi'", fix));
    console.log('SELF-HEAL: {"status":"fixed","summary":"greets"}');`,
  'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
};

const spec = 'tests/greet.spec.ts';

/** A project whose run was killed while its tests typed another input. */
async function killed() {
  const project = await scratchProject({ ...files, 'is-waiting': '' });
  const running = project.start(['run']);
  const pids = await agentStarted(project);
  expect(await project.read(spec)).not.toBe(files[spec]);
  const ended = once(running, 'exit');
  running.kill('SIGKILL');
  await ended;
  await vi.waitFor(() => expect(pids.map(isAlive)).toEqual([false, false]), {
    timeout: 10_000,
    interval: 50,
  });
  expect(await project.read(spec)).not.toBe(files[spec]);
  expect(existsSync(path.join(project.dir, '.self-heal/journal.json'))).toBe(true);
  rmSync(path.join(project.dir, 'is-waiting'));
  return project;
}

it.runIf(process.platform === 'linux')(
  'HN-2 HN-3 undo restores the tests byte for byte after a SIGKILL while they type another input',
  async () => {
    const project = await killed();
    const { exitCode } = await project.selfHeal(['undo', '--yes']);
    expect(exitCode).toBe(0);
    for (const [file, text] of Object.entries(files)) expect(await project.read(file)).toBe(text);
    expect(existsSync(path.join(project.dir, '.self-heal/journal.json'))).toBe(false);
  },
);

it.runIf(process.platform === 'linux')(
  'HN-2 HN-3 a run restores the tests after a SIGKILL while they type another input, and heals the cause',
  async () => {
    const project = await killed();
    const { exitCode, report } = await project.selfHeal(['run']);
    expect(report?.causes[0]?.attempts.at(-1)).toMatchObject({ end: { kind: 'green' } });
    expect(exitCode).toBe(0);
    const healed = files['greet.mjs'].replace("'Hi'", "'Hello ' + name");
    for (const [file, text] of Object.entries({ ...files, 'greet.mjs': healed }))
      expect(await project.read(file)).toBe(text);
    expect(existsSync(path.join(project.dir, '.self-heal/journal.json'))).toBe(false);
  },
);
