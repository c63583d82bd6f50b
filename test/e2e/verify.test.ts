import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { execa } from 'execa';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { Verification } from '../../src/model/verification.js';
import { committed } from '../rig/git-repository.js';
import { isLong } from '../rig/long.js';
import { scratchProject, type ScratchProject, shopFiles, userEnv } from '../rig/scratch-project.js';
import { tempDirOfFile } from '../rig/temp-dir.js';

const root = path.resolve(import.meta.dirname, '../..');
const spec = 'tests/shop.spec.ts';
/** The first test is green as long as nobody touches its list. While it is red, the second one edits the page if `edit` exists, and waits to be killed if `hold` exists. */
const tests = `
  import { test, expect } from '@playwright/test';
  import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
  test('lists', () => {
    expect(readFileSync('list.html', 'utf8')).toContain('one');
  });
  test('buys', async () => {
    if (existsSync('hold') && !readFileSync('page.html', 'utf8').includes('Thanks')) {
      writeFileSync('held', '');
      await new Promise(() => undefined);
    }
    if (existsSync('edit') && !readFileSync('page.html', 'utf8').includes('Thanks')) {
      rmSync('edit');
      writeFileSync('page.html', readFileSync('page.html', 'utf8').replace('<', '<!-- mine --><'));
    }
    expect(readFileSync('page.html', 'utf8').includes('Thanks')).toBe(true);
  });`;
const files = {
  ...shopFiles,
  '.gitignore': 'node_modules\ntest-results\n.self-heal\nheld\nhold\nedit\n',
  'agents.yaml': 'verify: { repeat: 1 }\n',
  'list.html': 'one',
  'notes.txt': 'mine\n',
  [spec]: tests,
};
const [good, bad] = [shopFiles['page.html'], shopFiles['page.html'].replace('Thanks', 'Tanks')];

/** What `verify` says of each state of a repository in which the developer's own uncommitted work has broken a test, as a red run has seen. */
async function verifications() {
  const project = await scratchProject(files, tempDirOfFile('verify'));
  committed(project.dir, 'all');
  await project.write({ 'page.html': bad, 'notes.txt': 'in the middle of something\n' });
  const red = await project.selfHeal(['run', '--dry-run']);
  const verify = async (...args: string[]) => {
    const { exitCode, report } = await project.selfHeal(['verify', ...args]);
    return { exitCode, ...(report?.verification as Verification) };
  };
  const withTest = async (from: string, to: string, ...args: string[]) => {
    await project.write({ [spec]: tests.replace(from, to) });
    return verify(...args);
  };

  const weaker = await withTest('.toBe(true)', '.toBeDefined()');
  const other = await withTest("includes('Thanks')).toBe", "includes('Tanks')).toBe", '--quick');
  const stillRed = await withTest('', '', '--quick');

  await project.write({ 'page.html': good, edit: '' });
  const edited = { ...(await verify('--quick')), page: await project.read('page.html') };
  await project.write({ 'page.html': good });
  const takenOut = isLong ? await killedWithoutChange(project) : null;
  const library = (await import(path.join(root, 'dist/index.js'))) as object;
  const { heal, verify: check, SelfHealError } = library as typeof import('../../src/index.js');
  const types: string[] = [];
  const place = { cwd: project.dir, env: userEnv() };
  const onEvent = ({ type }: { type: string }) => void types.push(type);
  const quick = await check({ ...place, depth: 'quick', onEvent });
  const after = { page: await project.read('page.html'), notes: await project.read('notes.txt') };
  const stopped = await heal({ ...place, signal: AbortSignal.abort() });
  const settings = { limits: { parallel: 0 }, verify: { level: 'fulll' } };
  const refused: unknown = await heal({ ...place, settings: settings as never }).catch(
    (error: unknown) => error,
  );
  const isOurs = refused instanceof SelfHealError;
  const page = readFileSync(path.join(root, 'docs/library.md'), 'utf8');
  const [, example = ''] = /```js\n([^]*?)```/.exec(page) ?? [];
  await project.write({ 'example.mjs': example });
  symlinkSync(root, path.join(project.dir, 'node_modules/self-heal'), 'dir');
  const asShown = await execa('node', ['example.mjs', '--dry-run'], {
    cwd: project.dir,
    env: userEnv(),
    extendEnv: false,
  });
  rmSync(path.join(project.dir, 'example.mjs'));

  await project.write({ 'list.html': 'two' });
  const breaks = await verify();
  const nowhere = await project.selfHeal(['verify', '--base', 'nowhere']);
  const exports = Object.keys(library).toSorted();
  return {
    red,
    weaker,
    other,
    stillRed,
    edited,
    takenOut,
    quick,
    after,
    exports,
    types,
    stopped,
    refused,
    isOurs,
    asShown: asShown.stdout,
    breaks,
    nowhere,
  };
}

/** Kills a verification while the change is reverted, and returns what the page said then. */
async function killedWithoutChange(project: ScratchProject): Promise<string> {
  await project.write({ hold: '' });
  const running = project.start(['verify', '--quick']);
  const held = path.join(project.dir, 'held');
  await vi.waitFor(() => expect(existsSync(held)).toBe(true), { timeout: 600_000 });
  const page = await project.read('page.html');
  running.kill('SIGKILL');
  await running;
  rmSync(path.join(project.dir, 'hold'));
  return page;
}

describe('verify', () => {
  let said: Awaited<ReturnType<typeof verifications>>;
  beforeAll(async () => {
    said = await verifications();
  });

  it('HN-12 reports what is unproven since the last red run: still red, broken, nothing to compare', () => {
    expect([said.red.exitCode, said.nowhere.exitCode]).toEqual([1, 2]);
    expect(said.stillRed).toMatchObject({ exitCode: 1, verdict: 'red' });
    // What breaks another test is no proof, whatever it heals.
    expect(said.breaks).toMatchObject({ exitCode: 1, verdict: 'breaks' });
  });

  it('HN-12 HN-3 refuses weakened tests without running them, and asks about changed ones', () => {
    const findings = [{ rule: 'test-weakened', file: spec, line: 16 }];
    expect(said.weaker).toMatchObject({ exitCode: 1, verdict: 'refused', findings, tests: [] });
    // A test that expects something else is a person's to let in, however green it is.
    const changed = { exitCode: 3, verdict: 'review', findings: [{ rule: 'test-changed' }] };
    expect(said.other).toMatchObject(changed);
  });

  it('HN-12 proves nothing if somebody edits the changed files meanwhile, and keeps the edit', () => {
    expect(said.edited).toMatchObject({ exitCode: 3, verdict: 'unproven', proven: [] });
    expect(said.edited.reason).toContain('page.html changed during the proof');
    expect(said.edited.page).toContain('mine');
  });

  it('HN-12 HN-2 restores the change at the end, even after a kill while it was reverted', () => {
    if (isLong) expect(said.takenOut).toBe(bad);
    expect(said.after).toEqual({ page: good, notes: 'in the middle of something\n' });
  });

  it('CL-15 HN-12 as a library, it proves the fix, emits events, and stops on an abort signal', () => {
    expect(said.exports).toEqual(['SelfHealError', 'blame', 'flaky', 'heal', 'verify']);
    const tests = [{ proof: ['green', 'red', 'green'] }];
    const verification = { verdict: 'proven', files: ['page.html'], tests, notProven: [expect.any(String)] };
    expect(said.quick).toMatchObject({ outcome: 'green', verification });
    expect(said.types).toContain('change.verified');
    expect(said.stopped).toMatchObject({ outcome: 'interrupted' });
  });

  it('CL-15 CF-3 the documented example runs, and the library throws where a run exits with 2', () => {
    expect(said.asShown).toBe('green 0');
    expect(said.isOurs).toBe(true);
    expect(said.refused).toMatchObject({
      kind: 'config-invalid',
      message: 'the settings object has 2 mistakes',
      detail: expect.stringMatching(
        /"level" must be one of.*did you mean "full".*\n.*"parallel" must be at least 1|"parallel" must be at least 1\n.*"level"/,
      ),
    });
  });
});
