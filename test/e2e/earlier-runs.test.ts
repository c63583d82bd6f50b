import { mkdir, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { agentsYaml, editingAgent, scratchProject } from '../rig/scratch-project.js';
import { runId, storedRun } from '../rig/stored-run.js';

const files = {
  'package.json': '{ "name": "scratch", "type": "module" }',
  '.gitignore': 'node_modules\ntest-results\n',
  'playwright.config.ts': "export default { testDir: 'tests', workers: 1, reporter: [['list']] };",
  'src/word.js': "export const word = 'one';",
  'tests/a.spec.ts': `
    import { test, expect } from '@playwright/test';
    import { word } from '../src/word.js';
    test('says two', () => expect(word).toBe('two'));`,
  'fixer.mjs': editingAgent([['src/word.js', 'one', 'two']]),
  'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
};

it('HN-8 undo finds the newest run that changed something, behind a green one', async () => {
  const project = await scratchProject(files);
  const healed = await project.selfHeal(['run']);
  expect(healed.exitCode, healed.stderr).toBe(0);
  // This is not a git repository, so no git command is suggested.
  expect(healed.stderr).toContain('self-heal undo');
  expect(healed.stderr).not.toContain('git diff');
  expect(await project.selfHeal(['run'])).toMatchObject({ exitCode: 0 });

  const id = healed.report?.runId ?? '';
  const asks = await project.selfHeal(['undo']);
  expect(asks).toMatchObject({ exitCode: 2, stdout: '' });
  expect(asks.stderr).toContain(`self-heal undo ${id}`);
  expect(await project.read('src/word.js')).toBe("export const word = 'two';");
  const nothing = await project.selfHeal(['inspect', '99']);
  expect(nothing).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('nothing failed in run') });

  await project.write({ 'src/word.js': "export const word = 'three';" });
  const edited = await project.selfHeal(['undo', '--yes']);
  expect(edited.exitCode).toBe(1);
  expect(edited.stdout).toMatch(/^left alone, because they have changed since run \S+:\n {2}src\/word\.js\n/);
  await project.write({ 'src/word.js': "export const word = 'two';" });

  const home = path.join(project.dir, '.self-heal');
  const events = path.join(home, 'runs', id, 'events.ndjson');
  const whole = await readFile(events);
  const cannotTell = async () => {
    const { exitCode, stdout, stderr } = await project.start(['undo', id]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('git apply -R');
  };
  await truncate(events, 200);
  await cannotTell();
  await writeFile(events, whole);
  await rename(path.join(home, 'changes'), path.join(home, 'moved'));
  await cannotTell();
  await rename(path.join(home, 'moved'), path.join(home, 'changes'));
  expect(await project.selfHeal(['undo', '--yes'])).toMatchObject({ exitCode: 0 });
  expect(await project.read('src/word.js')).toBe(files['src/word.js']);
  expect((await project.selfHeal(['undo'])).stdout).toContain('nothing to undo');
  const { stderr: summary } = await project.selfHeal(['report', id]);
  expect(summary).toContain('were undone later');
  expect(summary).not.toContain(`undo ${id}`);
});

it('HN-8 undo of what is undone already says so, and names the newest run that left changes', async () => {
  const project = await scratchProject(files);
  const first = await project.selfHeal(['run']);
  await project.write({ 'src/word.js': files['src/word.js'] });
  expect(await project.selfHeal(['run'])).toMatchObject({ exitCode: 0 });
  expect(await project.selfHeal(['undo'])).toMatchObject({ exitCode: 0 });
  const again = await project.selfHeal(['undo']);
  expect(again.exitCode).toBe(2);
  expect(again.stderr).toContain('the last run has already been reverted');
  expect(again.stderr).toContain(first.report?.runId);
});

it('CL-9 CL-12 commands accept the beginning of a run id, and reject one that matches several runs', async () => {
  const project = await scratchProject({ 'package.json': '{ "name": "scratch" }' });
  await storedRun(project.dir);
  const short = runId.slice(0, 10);
  for (const command of [
    ['inspect', short],
    ['inspect', short, 'c1'],
    ['report', short, '--json'],
  ]) {
    expect(await project.selfHeal(command)).toMatchObject({ exitCode: 0 });
  }
  await mkdir(path.join(project.dir, '.self-heal', 'runs', `${runId.slice(0, -1)}b`));
  for (const command of [
    ['inspect', short],
    ['report', short],
    ['undo', short],
  ]) {
    const { exitCode, stderr } = await project.selfHeal(command);
    expect(stderr, command[0]).toContain(`${short} matches several run ids`);
    expect(exitCode).toBe(2);
  }
});

it('CL-2 names the project’s folder when started in a folder below it', async () => {
  const project = await scratchProject(files);
  await storedRun(project.dir);
  const below = await scratchProject({ 'x.txt': '' }, path.join(project.dir, 'src', 'deep'));
  for (const command of [['run'], ['inspect'], ['report']]) {
    const { exitCode, stderr } = await below.selfHeal(command);
    expect(stderr).toContain(`in ${project.dir}: change to that folder first.`);
    expect(exitCode).toBe(2);
  }
});

it('CL-9 inspect exits with 2 in a project without runs, and says to start one', async () => {
  const { exitCode, stderr } = await (await scratchProject()).selfHeal(['inspect']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('Run `self-heal run` first');
});
