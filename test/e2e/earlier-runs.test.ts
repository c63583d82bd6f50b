import { cpSync, readdirSync } from 'node:fs';
import { mkdir, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, it, vi } from 'vitest';
import { bringRun } from '../rig/hostile-state.js';
import {
  agentsYaml,
  editingAgent,
  type Finished,
  projectIn,
  scratchProject,
  type ScratchProject,
  shopFiles,
} from '../rig/scratch-project.js';
import { runId, storedRun } from '../rig/stored-run.js';
import { tempDir, tempDirOfFile } from '../rig/temp-dir.js';

const broken = shopFiles['page.html'].replace('Thanks', 'Tanks');
const files = {
  ...shopFiles,
  '.gitignore': 'node_modules\ntest-results\n.env\n',
  'page.html': broken,
  '.env': 'SHOP=old\n',
  '.env.example': 'SHOP=new\n',
  'mine.txt': 'a\n',
  'both.txt': '1\n2\n3\n',
  // The run's own folder may be deleted while it works.
  'fixer.mjs': `import { rmSync } from 'node:fs';
rmSync(process.env.DELETED, { recursive: true });
${editingAgent([
  ['page.html', 'Tanks', 'Thanks'],
  ['.env', 'old', 'new'],
  ['mine.txt', 'a', 'b'],
  ['both.txt', '1', 'one'],
])}`,
  'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
};

/** A project that one run has healed and another one has seen green. */
let shop: ScratchProject;
let healed: Finished;
let green: Finished;
const cache = tempDirOfFile('cache');
beforeAll(async () => {
  shop = await scratchProject(files, tempDirOfFile('healed'));
  const env = { DELETED: path.join(shop.dir, '.self-heal'), XDG_CACHE_HOME: cache };
  healed = await shop.selfHeal(['run'], env);
  green = await shop.selfHeal(['run']);
});

/** Copies the project together with its runs. */
function copyShop(): ScratchProject {
  const dir = tempDir('copy');
  cpSync(shop.dir, dir, { recursive: true, verbatimSymlinks: true });
  return projectIn(dir);
}

it('HN-8 undo asks about the newest run that changed something, even if a green run followed', async () => {
  expect([healed.exitCode, green.exitCode], healed.stderr).toEqual([0, 0]);
  // This is not a git repository, so no git command is suggested.
  expect(healed.stderr).toContain('self-heal undo');
  expect(healed.stderr).not.toContain('git diff');
  const asks = await shop.selfHeal(['undo']);
  expect(asks).toMatchObject({ exitCode: 2, stdout: '' });
  expect(asks.stderr).toContain(`self-heal undo ${healed.report?.runId}`);
  expect(await shop.read('page.html')).toBe(shopFiles['page.html']);
  const nothing = await shop.selfHeal(['inspect', '99']);
  expect(nothing).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('nothing failed in run') });
});

it('HN-1 a run leaves no copy of the project behind', async () => {
  // The watchdog removes it.
  await vi.waitFor(() => expect(readdirSync(cache)).toEqual([]), { timeout: 60_000, interval: 50 });
});

it('HN-8 HN-1 undo reverts what agents changed, even in .env files, and keeps the user’s edits', async () => {
  const project = copyShop();
  expect(await project.read('.env')).toBe('SHOP=new\n');
  await project.write({ 'mine.txt': 'c\n', 'both.txt': 'one\n2\n3\n4\n' });
  const { exitCode, stdout } = await project.selfHeal(['undo', '--yes']);
  expect(stdout).toMatch(
    /reverted the changes[^]*\.env\n {2}both\.txt\n {2}page\.html\nleft alone[^]*mine\.txt/,
  );
  expect(exitCode).toBe(1);
  expect(await project.read('page.html')).toBe(broken);
  expect(await project.read('.env')).toBe('SHOP=old\n');
  expect(await project.read('mine.txt')).toBe('c\n');
  expect(await project.read('both.txt')).toBe('1\n2\n3\n4\n');
  const again = await project.selfHeal(['undo', '--yes']);
  expect(again.stdout).toMatch(/^left alone, because they have changed since run \S+:\n {2}mine\.txt\n/);
  await project.write({ 'mine.txt': 'a\n' });
  const last = await project.selfHeal(['undo', '--yes']);
  const reverted = expect.stringContaining('already been reverted') as unknown;
  expect(last).toMatchObject({ exitCode: 0, stdout: reverted });
  const id = healed.report?.runId ?? '';
  const { stderr: summary } = await project.selfHeal(['report', id]);
  expect(summary).toContain('were undone later');
  expect(summary).not.toContain(`undo ${id}`);
});

it('HN-8 undo without a complete record of the changes names the git command that reverts the patch', async () => {
  const project = copyShop();
  const id = healed.report?.runId ?? '';
  const home = path.join(project.dir, '.self-heal');
  const events = path.join(home, 'runs', id, 'events.ndjson');
  const cannotTell = async () => {
    const { exitCode, stdout, stderr } = await project.start(['undo', id]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('git apply -R');
  };
  const whole = await readFile(events);
  await truncate(events, 200);
  await cannotTell();
  await writeFile(events, whole);
  await rename(path.join(home, 'changes'), path.join(home, 'moved'));
  await cannotTell();
});

it('HN-8 undoing a run twice says so, and names the newest run that left changes', async () => {
  const project = await scratchProject({ 'package.json': '{ "name": "scratch" }' });
  const [first, second] = ['20260101-000000-0001', '20260102-000000-0002'];
  bringRun(project.dir, 'first.txt', { id: first });
  bringRun(project.dir, 'second.txt', { id: second });
  expect(await project.selfHeal(['undo'])).toMatchObject({ exitCode: 0 });
  const again = await project.selfHeal(['undo']);
  expect(again.exitCode).toBe(2);
  expect(again.stderr).toContain('the last run has already been reverted');
  expect(again.stderr).toContain(first);
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

it('CL-2 names the project’s folder when started in a subfolder', async () => {
  const project = await scratchProject(files);
  await storedRun(project.dir);
  const below = await scratchProject({ 'x.txt': '' }, path.join(project.dir, 'src', 'deep'));
  for (const command of [['run'], ['inspect'], ['report']]) {
    const { exitCode, stderr } = await below.selfHeal(command);
    expect(stderr).toContain(`in ${project.dir}: change to that folder first.`);
    expect(exitCode).toBe(2);
  }
});

it('CL-9 inspect exits with 2 in a project without runs, and suggests starting one', async () => {
  const { exitCode, stderr } = await (await scratchProject()).selfHeal(['inspect']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('Run `self-heal run` first');
});
