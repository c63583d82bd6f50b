import { existsSync, readFileSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Escalation } from '../../src/core/escalation.js';
import { agentsYaml, scratchProject, type ScratchProject } from '../rig/scratch-project.js';

/** A suite that needs no browser: two tests, each of which wants a word in a file of its own. */
const words = {
  'package.json': '{ "name": "scratch", "type": "module" }',
  // What the agents keep for the tests is ignored, or it would be taken back with their changes.
  '.gitignore': ['node_modules', 'test-results', '*.ran', 'tried', 'hanging', 'last-prompt.md'].join('\n'),
  'playwright.config.ts': `
    import { defineConfig } from '@playwright/test';
    export default defineConfig({ testDir: 'tests', workers: 1, reporter: [['list']] });`,
  'tests/words.spec.ts': `
    import { test, expect } from '@playwright/test';
    import { appendFileSync, readFileSync } from 'node:fs';
    const read = (name: string) => readFileSync(name + '.txt', 'utf8').trim();
    test('says thanks', () => {
      appendFileSync('thanks.ran', 'x');
      expect(read('thanks')).toBe('Thanks');
    });
    test('counts', () => { if (read('count') !== '3') throw new RangeError('the count is wrong'); });`,
  'thanks.txt': 'Tanks',
  'count.txt': '3',
  'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
};

async function questions(project: ScratchProject): Promise<Escalation[]> {
  const { stdout } = await project.selfHeal(['escalations', '--json']);
  return (JSON.parse(stdout) as { escalations: Escalation[] }).escalations;
}

it('CL-12 ME-5 ME-6 ME-7 a question waits for a person, pays no agent meanwhile, and skip quarantines its test', async () => {
  const asks = `import { appendFileSync } from 'node:fs';
    appendFileSync('agent.ran', 'x');
    console.log('SELF-HEAL: {"status":"needs-person","summary":"Is it Tanks or Thanks?"}');`;
  const project = await scratchProject({ ...words, 'fixer.mjs': asks });
  expect((await project.selfHeal(['run'])).exitCode).toBe(3);
  const again = await project.selfHeal(['run']);
  expect(again.exitCode).toBe(3);
  expect(await project.read('agent.ran')).toBe('x');
  const [open] = await questions(project);
  if (!open) throw new Error('no question is open');
  expect(open).toMatchObject({ state: 'pending', choices: ['skip', 'simplify', 'guide'] });
  expect(open.problem).toContain('Is it Tanks or Thanks?');
  expect(again.report?.escalations).toMatchObject([{ id: open.id, state: 'pending' }]);
  const unanswered = await project.selfHeal(['escalations', 'resolve', open.id]);
  expect(unanswered.exitCode).toBe(2);
  expect((await project.selfHeal(['escalations', 'resolve', open.id, '--choice', 'skip'])).exitCode).toBe(0);
  const skipped = await project.selfHeal(['run']);
  expect(skipped.exitCode).toBe(0);
  expect(skipped.stderr).toContain('quarantined');
  expect(skipped.report?.tests.map((test) => test.verdict)).toEqual(['quarantined', 'passed']);
});

it.runIf(process.platform === 'linux')(
  'ME-8 a run killed by SIGKILL goes on with resume: counts kept, finished work not done again',
  async () => {
    const project = await scratchProject({ ...words, 'count.txt': '2', 'fixer.mjs': hangsAtItsThirdWork });
    const running = project.start(['run']);
    const ended = running.then(({ stderr }) => Promise.reject(new Error(`it ended early: ${stderr}`)));
    const agent = await Promise.race([hanging(project), ended]);
    ended.catch(() => undefined);
    process.kill(running.pid!, 'SIGKILL');
    await running;
    process.kill(agent, 'SIGKILL');
    const ranBefore = (await project.read('thanks.ran')).length;
    const { exitCode, report } = await project.selfHeal(['resume']);
    expect(exitCode).toBe(0);
    expect(report?.tests.map((test) => test.verdict)).toEqual(['healed', 'healed']);
    // The first was healed before the kill, and so it was not even run.
    expect((await project.read('thanks.ran')).length).toBe(ranBefore);
    // One try had failed and one was cut off by the kill: the cut-off one is not counted.
    expect(report?.causes.map((cause) => cause.attempts.map((one) => one.n))).toEqual([[2]]);
    expect(await project.read('last-prompt.md')).toContain('APPROACH 1 FAILED');
    expect((await project.selfHeal(['resume'])).exitCode).toBe(2);
  },
);

/** Heals the first failure; fails at the second once, and works for ever at its next try; is quick when it is started again. */
const hangsAtItsThirdWork = `
  import { existsSync, readFileSync, writeFileSync } from 'node:fs';
  const prompt = readFileSync(0, 'utf8');
  writeFileSync('last-prompt.md', prompt);
  if (/^Test:.*says thanks/m.test(prompt)) writeFileSync('thanks.txt', 'Thanks');
  else if (!existsSync('tried')) { writeFileSync('tried', ''); writeFileSync('count.txt', '2 '); }
  else if (existsSync('hanging')) writeFileSync('count.txt', '3');
  else { writeFileSync('hanging', String(process.pid)); setInterval(() => {}, 1000); }`;

async function hanging(project: ScratchProject): Promise<number> {
  const file = path.join(project.dir, 'hanging');
  const there = () => existsSync(file) && readFileSync(file, 'utf8') !== '';
  if (!there()) for await (const _ of watch(project.dir)) if (there()) break;
  return Number(readFileSync(file, 'utf8'));
}

it('ME-10 CL-5 a damaged store ends the run with 2 before an agent is paid, and is left as it is', async () => {
  const idle = `import { writeFileSync } from 'node:fs'; writeFileSync('agent.ran', '');`;
  const damaged = { '.self-heal/ledger.db': 'this is no database '.repeat(100) };
  const project = await scratchProject({ ...words, ...damaged, 'fixer.mjs': idle });
  const { exitCode, stderr } = await project.selfHeal(['run']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('damaged');
  expect(existsSync(path.join(project.dir, 'agent.ran'))).toBe(false);
  expect(await project.read('.self-heal/ledger.db')).toBe(damaged['.self-heal/ledger.db']);
});
