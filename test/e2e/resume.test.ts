import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { isLong } from '../rig/long.js';
import { agentsYaml, editingAgent, scratchProject, type ScratchProject } from '../rig/scratch-project.js';

/** A red test that needs no browser; its nth run hangs, where n is the number in `hang-at`. */
const files = {
  'package.json': '{ "name": "scratch", "type": "module" }',
  '.gitignore': 'node_modules\ntest-results\n*.ran\nhang-at\n',
  'playwright.config.ts': `
    import { defineConfig } from '@playwright/test';
    export default defineConfig({ testDir: 'tests', workers: 1, timeout: 120_000, reporter: [['list']] });`,
  'tests/words.spec.ts': `
    import { test, expect } from '@playwright/test';
    import { appendFileSync, existsSync, readFileSync } from 'node:fs';
    import { word } from '../thanks.mjs';
    test('says thanks', async () => {
      appendFileSync('thanks.ran', 'x');
      const times = readFileSync('thanks.ran', 'utf8').length;
      if (existsSync('hang-at') && times === Number(readFileSync('hang-at', 'utf8'))) await new Promise(() => {});
      expect(word).toBe('Thanks');
    });`,
  'tests/other.spec.ts': `
    import { test } from '@playwright/test';
    test('is not selected', () => { throw new Error('it ran'); });`,
  'thanks.mjs': "export const word = 'Tanks';\n",
  'fixer.mjs': editingAgent([['thanks.mjs', 'Tanks', 'Thanks']]),
  'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
};

/** A project whose run was killed while its test ran for the nth time. */
async function killedAt(times: number, more: Record<string, string> = {}): Promise<ScratchProject> {
  const project = await scratchProject({ ...files, ...more, 'hang-at': String(times) });
  const running = project.start(['run', 'tests/words.spec.ts']);
  const file = path.join(project.dir, 'thanks.ran');
  const there = () => existsSync(file) && readFileSync(file, 'utf8').length >= times;
  if (!there()) for await (const _ of watch(project.dir)) if (there()) break;
  const ended = once(running, 'exit');
  running.kill('SIGKILL');
  // Its suite lives on for a moment and keeps its streams open.
  await ended;
  return project;
}

const kills = [
  ['its first suite', 1, 'it stopped before it knew which tests fail, so the whole selection runs again'],
  ['the confirming run', 2, '1 test is left'],
] as const;

it.runIf(isLong && process.platform === 'linux').each(kills)(
  'ME-8 resume continues a run that was killed in %s, with its selection',
  async (_, times, words) => {
    const project = await killedAt(times);
    const { exitCode, report, stderr } = await project.selfHeal(['resume']);
    expect(stderr).toMatch(/continues run \d{8}-\d{6}-[\da-f]{4}: /);
    expect(stderr).toContain(words);
    expect(report?.tests.map((test) => [test.title.at(-1), test.verdict])).toEqual([
      ['says thanks', 'healed'],
    ]);
    expect(exitCode).toBe(0);
    const again = await project.selfHeal(['resume']);
    expect(again.stderr).toContain('is finished (green); there is nothing to continue');
    expect(again.exitCode).toBe(2);
  },
);

it.runIf(process.platform === 'linux')(
  'ME-8 HN-1 HN-2 a fix whose proof was cut off by a kill is reverted by the next command, which names its patch, and reused by resume, merged with what the user edited since',
  async () => {
    const proven = agentsYaml(['node', 'fixer.mjs'], 'verify: { repeat: 2, flips: 0, regression: none }');
    const word = `${files['thanks.mjs']}//\n`;
    const project = await killedAt(4, { 'thanks.mjs': word, 'agents.yaml': proven });
    expect(await project.read('thanks.mjs')).toContain("'Thanks'");
    const { stderr } = await project.selfHeal(['undo']);
    expect(await project.read('thanks.mjs')).toBe(word);
    expect(stderr).toContain(
      'cleaned up after an earlier run that was killed\n  reverted an unproven change: thanks.mjs\n',
    );
    const [, patch = ''] = /^ {2}patch: (.*)$/m.exec(stderr) ?? [];
    expect(path.relative(project.dir, patch)).toMatch(/^\.self-heal\/runs\/[^/]+\/attempts\/1\.patch$/);
    expect(readFileSync(patch, 'utf8')).toMatch(/^\+.*Thanks/m);
    expect(existsSync(path.join(project.dir, '.self-heal/journal.json'))).toBe(false);
    expect((await project.selfHeal(['undo'])).stderr).not.toContain('killed');
    await project.write({ 'thanks.mjs': `${word}// mine\n` });
    const { exitCode, report } = await project.selfHeal(['resume']);
    expect(await project.read('thanks.mjs')).toBe("export const word = 'Thanks';\n//\n// mine\n");
    const [attempt, ...others] = report?.causes[0]?.attempts ?? [];
    expect([attempt?.agent, attempt?.end.kind, others.length]).toEqual(['code-review', 'green', 0]);
    expect(report?.totals).toMatchObject({ healed: 1, agentRuns: 0 });
    expect(exitCode).toBe(0);
  },
);

it.runIf(isLong && process.platform === 'linux')(
  'HL-10 resume stays red if the test that was left no longer exists',
  async () => {
    const project = await killedAt(2);
    const renamed = files['tests/words.spec.ts'].replace('says thanks', 'thanks');
    await project.write({ 'tests/words.spec.ts': renamed });
    const { exitCode, report } = await project.selfHeal(['resume']);
    expect(report?.tests.map((test) => [test.title.at(-1), test.verdict])).toEqual([
      ['says thanks', 'failed'],
    ]);
    expect(report?.warnings).toEqual([expect.stringMatching(/words\.spec\.ts.* › says thanks/)]);
    expect([exitCode, report?.totals.agentRuns]).toEqual([1, 0]);
  },
);

it('CL-12 resume exits with 2 if there is no run, or none with the given id', async () => {
  const project = await scratchProject(files);
  const none = await project.selfHeal(['resume']);
  expect(none.stderr).toContain('there is no run to continue\n  → Start one with `self-heal run`.');
  expect(none.exitCode).toBe(2);
  const unknown = await project.selfHeal(['resume', '20260101-000000-aaaa']);
  expect(unknown.stderr).toContain('there is no run 20260101-000000-aaaa\n');
  expect(unknown.exitCode).toBe(2);
});
