import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import type { Verification } from '../../src/core/verification.js';
import { scratchProject, type ScratchProject, shopFiles, userEnv } from '../rig/scratch-project.js';

const spec = 'tests/shop.spec.ts';
/** The second test is green as long as nobody touches its list. */
const files = {
  ...shopFiles,
  '.gitignore': 'node_modules\ntest-results\n.self-heal\nheld\nhold\n',
  'list.html': 'one',
  'notes.txt': 'mine\n',
  [spec]: `${shopFiles[spec]}
    test('lists', () => {
      expect(readFileSync('list.html', 'utf8')).toContain('one');
    });`,
};
const [good, bad] = [shopFiles['page.html'], shopFiles['page.html'].replace('Thanks', 'Tanks')];

/** A repository in which the developer's own uncommitted work has broken a test, as a red run has seen. */
async function redShop(more: Record<string, string> = {}): Promise<ScratchProject> {
  const project = await scratchProject({ ...files, ...more });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd: project.dir,
    });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-qm', 'all');
  await project.write({ 'page.html': bad, 'notes.txt': 'in the middle of something\n' });
  expect((await project.selfHeal(['run', '--dry-run'])).exitCode).toBe(1);
  return project;
}

async function verify(project: ScratchProject, ...args: string[]) {
  const { exitCode, report } = await project.selfHeal(['verify', ...args]);
  return { exitCode, ...(report?.verification as Verification) };
}

it('HN-12 proves a fix against the tree of the last red run, and says what is not: red, broken, not needed, nothing to compare', async () => {
  const project = await redShop();
  expect(await verify(project, '--quick')).toMatchObject({ exitCode: 1, verdict: 'red' });
  await project.write({ 'page.html': good });
  const quick = await verify(project, '--quick');
  expect(quick).toMatchObject({ exitCode: 0, verdict: 'proven', files: ['page.html'] });
  expect(quick.tests.map(({ proof }) => proof.join(' '))).toEqual(['green red green']);
  expect(quick.notProven).toHaveLength(1);
  // What breaks another test is no proof, whatever it heals.
  await project.write({ 'list.html': 'two' });
  expect(await verify(project)).toMatchObject({ exitCode: 1, verdict: 'breaks' });
  await project.write({ 'list.html': 'one' });
  const full = await verify(project);
  expect(full).toMatchObject({ exitCode: 0, verdict: 'proven', notProven: [] });
  expect(full.tests.map(({ proof }) => proof.join(' '))).toEqual(['green green green red green']);
  expect(await project.read('page.html')).toBe(good);
  expect(await project.read('notes.txt')).toBe('in the middle of something\n');
  // Against the commit, the developer's own work is all that changed, and it was green before that, too.
  const needless = await verify(project, spec, '--quick', '--base', 'HEAD');
  expect(needless).toMatchObject({ exitCode: 1, verdict: 'needless', files: ['notes.txt'] });
  expect((await project.selfHeal(['verify', '--base', 'nowhere'])).exitCode).toBe(2);
});

it('HN-12 HN-3 refuses weakened and missing tests by their line without running anything, though a run in between was green with them', async () => {
  const project = await redShop();
  const before = await project.read(spec);
  await project.write({ [spec]: before.replace('.toBe(true)', '.toBeDefined()') });
  expect((await project.selfHeal(['run', '--dry-run'])).exitCode).toBe(0);
  const cheat = await verify(project);
  expect(cheat).toMatchObject({
    exitCode: 1,
    verdict: 'refused',
    findings: [{ rule: 'test-weakened', file: spec, line: 6 }],
    tests: [],
  });
  await project.write({ [spec]: before.replace("test('buys'", "test.skip('buys'") });
  expect(await verify(project)).toMatchObject({ exitCode: 1, verdict: 'refused' });
  // A test that expects something else is a person's to let in, however green it is.
  await project.write({ [spec]: before.replace("includes('Thanks')", "includes('Tanks')") });
  const other = await verify(project, '--quick');
  expect(other).toMatchObject({ exitCode: 3, verdict: 'review', findings: [{ rule: 'test-changed' }] });
});

it('HN-12 HN-2 a kill while the change is taken out leaves it to the next command to put it back', async () => {
  const project = await redShop({
    [spec]: files[spec].replace(
      "test('buys', () => {",
      `test('buys', async () => {
      const { existsSync, writeFileSync } = await import('node:fs');
      if (existsSync('hold') && !readFileSync('page.html', 'utf8').includes('Thanks')) {
        writeFileSync('held', '');
        await new Promise(() => undefined);
      }`,
    ),
  });
  await project.write({ 'page.html': good, hold: '' });
  const running = project.start(['verify']);
  await vi.waitFor(() => expect(existsSync(path.join(project.dir, 'held'))).toBe(true), { timeout: 600_000 });
  expect(await project.read('page.html')).toBe(bad);
  running.kill('SIGKILL');
  await running;
  execFileSync('rm', ['hold'], { cwd: project.dir });
  const again = await verify(project, '--quick');
  expect(again, again.reason).toMatchObject({ exitCode: 0, verdict: 'proven' });
  expect(await project.read('page.html')).toBe(good);
});

it('CL-15 as a library it proves the same, event by event, and is interrupted by a signal', async () => {
  const project = await redShop();
  const entry = path.resolve(import.meta.dirname, '../../dist/index.js');
  const library = (await import(entry)) as typeof import('../../src/index.js');
  expect(Object.keys(library).toSorted()).toEqual(['run', 'verify']);
  await project.write({ 'page.html': good });
  const place = { cwd: project.dir, env: userEnv() };
  const types: string[] = [];
  const onEvent = ({ type }: { type: string }) => void types.push(type);
  const proven = await library.verify({ ...place, depth: 'quick', onEvent });
  expect(proven).toMatchObject({ ok: true, value: { exitCode: 0, report: { outcome: 'green' } } });
  expect(types).toContain('change.verified');
  const stopped = await library.run({ ...place, signal: AbortSignal.abort() });
  expect(stopped).toMatchObject({ ok: true, value: { exitCode: 130, report: { outcome: 'interrupted' } } });
});
