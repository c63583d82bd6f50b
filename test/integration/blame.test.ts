import { closeSync, existsSync, openSync, readFileSync, utimesSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SuiteRun } from '../../src/playwright/suite-run.js';
import { recoverKilledRuns } from '../../src/run/recover.js';
import { agentWorkspace } from '../rig/agent-workspace.js';
import { cause, replaceWord, files, joinLines, repository, readTree } from '../rig/blame-repository.js';
import { aCause, aDiagnosed, aResult, aSuiteFailure, aSuiteRun } from '../rig/builders.js';

describe('the search for the change to blame', () => {
  it('BL-1 BL-3 BL-5 names commit, line, text among four changes, and restores the tree', async () => {
    const { project, find, commit, told } = await repository((read) => !read('src/a.ts').includes('SIX'));
    project.git('checkout', '--quiet', '-b', 'feature');
    const [a, b] = [files['src/a.ts'], files['src/b.ts']];
    commit('first', { 'src/b.ts': replaceWord(b, 'one', 'ONE') });
    const culprit = commit('louder', {
      'src/a.ts': replaceWord(replaceWord(a, 'six', 'SIX'), 'eleven', 'ELEVEN'),
    });
    commit('third', { 'src/b.ts': replaceWord(replaceWord(b, 'one', 'ONE'), 'six', 'six!') });
    project.write({
      'src/a.ts': replaceWord(replaceWord(replaceWord(a, 'six', 'SIX'), 'eleven', 'ELEVEN'), 'one', 'uno'),
    });
    const before = readTree(project);
    const [blamed] = await find()([cause]);
    expect(blamed?.blame).toMatchObject({
      base: { from: 'merge-base' },
      hunks: [
        {
          file: 'src/a.ts',
          line: 6,
          old: ['six'],
          now: ['SIX'],
          commit: { id: culprit, author: 'Ann', subject: 'louder' },
          inTests: false,
        },
      ],
      isMinimal: true,
      endedBy: null,
      outOf: 5,
    });
    expect(told).toEqual([['c1', blamed?.blame]]);
    expect(readTree(project)).toEqual(before);
  });

  it.each([
    ['nothing is uncommitted', {}],
    ['the uncommitted change is not to blame', { 'src/b.ts': joinLines('one', 'mine') }],
    ['only the setup of self-heal is uncommitted', { 'agents.yaml': 'version: 1\n' }],
  ])('BL-2 without a known green state, searches the last commits: %s', async (_, uncommitted) => {
    const { project, find, commit } = await repository((read) => !read('src/a.ts').includes('SIX'));
    commit('shouts', { 'src/a.ts': replaceWord(files['src/a.ts'], 'six', 'SIX') });
    commit('later', { 'src/b.ts': joinLines('one', 'later') });
    project.write(uncommitted);
    const [blamed] = await find()([cause]);
    expect(blamed?.blame).toMatchObject({
      base: { from: 'recent' },
      hunks: [{ file: 'src/a.ts', commit: { subject: 'shouts' } }],
    });
  });

  it('BL-1 does not count a suite as red if it fails for another reason without a change', async () => {
    const { project, find, commit } = await repository(() => true);
    const typo = replaceWord(files['src/a.ts'], 'one', 'TYPO');
    commit('more', {
      'src/a.ts': typo,
      'src/b.ts': replaceWord(files['src/b.ts'], 'one', 'ONE'),
      'src/c.ts': 'uses ONE',
      'src/d.ts': 'other',
    });
    const says = (file: string, text: string) =>
      existsSync(path.join(project.dir, file)) && project.read(file).includes(text);
    const rerun = async () => {
      const failed =
        says('src/c.ts', 'ONE') && !says('src/b.ts', 'ONE')
          ? 'no ONE'
          : says('src/a.ts', 'TYPO')
            ? 'TYPO'
            : null;
      return failed === null
        ? aSuiteRun({ tests: [aResult('t1', 'expected')] })
        : aSuiteRun({ suiteFailure: aSuiteFailure(failed) });
    };
    const lead = { ...cause.lead, failure: aSuiteFailure('TYPO'), signature: 'TYPO' };
    const signed = async ({ suiteFailure }: SuiteRun) => suiteFailure?.errors[0]?.message ?? null;
    const [blamed] = await find({ rerun, computeSuiteSignature: signed })([
      { ...cause, lead, members: [lead] },
    ]);
    expect(blamed?.blame?.hunks.map(({ file }) => file)).toEqual(['src/a.ts']);
  });

  it('BL-2 checks with one quick test whether a suite starts, once such a test is known', async () => {
    const { project, find } = await repository(() => null);
    for (const name of ['a', 'b']) project.write({ [`src/${name}.ts`]: joinLines('broken') });
    project.git('add', '--all');
    const selections: (readonly string[] | null)[] = [];
    const rerun = async ({ ids }: { readonly ids: readonly string[] | null }): Promise<SuiteRun> => {
      selections.push(ids);
      if (project.read('src/b.ts').includes('broken')) return aSuiteRun({ suiteFailure: aSuiteFailure() });
      const slow = { ...aResult('slow', 'expected'), durationMs: 900 };
      return aSuiteRun({ tests: [slow, aResult('red', 'unexpected'), aResult('quick', 'expected')] });
    };
    const start = aCause({ lead: aDiagnosed({ failure: aSuiteFailure(), signature: 'it' }) });
    const [blamed] = await find({ rerun, computeSuiteSignature: async () => 'it' })([start]);
    expect(blamed?.blame?.hunks.map(({ file }) => file)).toEqual(['src/b.ts']);
    expect(selections).toEqual([null, ['quick'], ['quick']]);
  });

  it('BL-1 does not blame the uncommitted setup of self-heal', async () => {
    const { project, find, told } = await repository(() => false);
    project.write({ 'agents.yaml': 'version: 1\n', 'web/.claude/commands/debugger.md': 'Fix it.\n' });
    await find()([cause]);
    const head = project.git('rev-parse', '--short=7', 'HEAD').trim();
    expect(told).toEqual([
      ['c1', `did not look for a change to blame: no change since ${head} can be the cause`],
    ]);
  });

  it('BL-1 does not search files that a suite never loads', async () => {
    const { project, find, runs } = await repository(() => true);
    project.write({
      'README.md': 'new\n',
      '.github/workflows/ci.yml': 'on: push\n',
      'src/cart.test.ts': 'it\n',
      'backend/shop/test_views.py': 'def test(): pass\n',
    });
    await find()([cause]);
    expect(runs()).toBe(0);
  });

  it('BL-1 SC-1 does not count the reports that it was given as changes of the project', async () => {
    const shop = await repository(() => false);
    shop.project.write({ 'shards/1/report.json': '{}\n' });
    await shop.find({ reportPaths: [path.join(shop.project.dir, 'shards')] })([cause]);
    expect(shop.runs()).toBe(0);
  });

  it('BL-1 ignores files that are written during the run, such as its own log', async () => {
    const { project, find } = await repository((read) => !read('src/a.ts').includes('SIX'));
    project.write({ 'src/a.ts': replaceWord(files['src/a.ts'], 'six', 'SIX'), 'run.log': 'one\n' });
    const startedAt = Date.now();
    utimesSync(path.join(project.dir, 'src/a.ts'), startedAt / 1000 - 1, startedAt / 1000 - 1);
    utimesSync(path.join(project.dir, 'run.log'), startedAt / 1000 + 1, startedAt / 1000 + 1);
    const log = openSync(path.join(project.dir, 'run.log'), 'a');
    const [blamed] = await find({ startedAt })([cause]);
    writeSync(log, 'two\n');
    closeSync(log);
    expect(blamed?.blame).toMatchObject({ hunks: [{ file: 'src/a.ts' }], outOf: 1 });
    expect(project.read('run.log')).toBe('one\ntwo\n');
  });

  it('BL-5 HN-1 restores a file together with a user’s edit made while a change was reverted', async () => {
    let edit = (text: string) => text;
    const { project, find } = await repository((read) => {
      const isGreen = !read('src/a.ts').includes('SIX');
      project.write({ 'src/a.ts': edit(read('src/a.ts')) });
      edit = (text) => text;
      return isGreen;
    });
    const mine = replaceWord(files['src/a.ts'], 'six', 'SIX');
    project.write({ 'src/a.ts': mine });
    edit = (text) => replaceWord(text, 'eleven', 'edited');
    await find()([cause]);
    expect(project.read('src/a.ts')).toBe(replaceWord(mine, 'eleven', 'edited'));
    expect(project.warnings).toEqual([]);
    edit = (text) => replaceWord(text, 'six', 'edited');
    await find()([cause]);
    expect(project.read('src/a.ts')).toContain('five\nedited\n');
    const [, held = ''] = /src\/a\.ts; its earlier content is in (.*)/.exec(project.warnings.join()) ?? [];
    expect(readFileSync(held, 'utf8')).toBe(replaceWord(mine, 'eleven', 'edited'));
  });

  it('BL-1 concludes nothing from a run during which somebody edited a changed file', async () => {
    const mine = replaceWord(files['src/a.ts'], 'six', 'SIX');
    const { project, find, told } = await repository((read) => {
      // An editor saves the file that it has open.
      project.write({ 'src/a.ts': mine });
      return !read('src/a.ts').includes('SIX');
    });
    project.write({ 'src/a.ts': mine });
    await find()([cause]);
    expect(told).toEqual([['c1', 'found no change to blame: somebody changed files during the search']]);
    expect(project.read('src/a.ts')).toBe(mine);
  });

  it('BL-1 still searches a file that an earlier search wrote during the run', async () => {
    const { project, find } = await repository((read) => !read('src/a.ts').includes('SIX'));
    project.write({ 'src/a.ts': replaceWord(files['src/a.ts'], 'six', 'SIX') });
    const startedAt = Date.now();
    utimesSync(path.join(project.dir, 'src/a.ts'), startedAt / 1000 - 1, startedAt / 1000 - 1);
    const search = find({ startedAt });
    await search([cause]);
    const later = new Date(startedAt + 60_000);
    utimesSync(path.join(project.dir, 'src/a.ts'), later, later);
    const [blamed] = await search([cause]);
    expect(blamed?.blame?.hunks).toMatchObject([{ file: 'src/a.ts' }]);
  });

  it('BL-1 finds a change outside the project’s folder in the same repository', async () => {
    const { project, find } = await repository(() => !project.read('lib/x.ts').includes('broken'), 'web');
    project.write({ 'lib/x.ts': 'fine\n' });
    project.git('add', '--all');
    project.git('commit', '--quiet', '-m', 'lib');
    project.write({ 'lib/x.ts': 'broken\n' });
    const [blamed] = await find()([cause]);
    expect(blamed?.blame?.hunks).toMatchObject([{ file: '../lib/x.ts', line: 1 }]);
    expect(project.read('lib/x.ts')).toBe('broken\n');
  });

  it('BL-1 blames a change to the tests only if no change to the app explains the failure', async () => {
    const { project, find } = await repository((read) => read('tests/shop.spec.ts') === joinLines('test'));
    project.write({ 'src/a.ts': joinLines('other'), 'tests/shop.spec.ts': joinLines('changed') });
    const [blamed] = await find()([cause]);
    expect(blamed?.blame?.hunks).toMatchObject([{ file: 'tests/shop.spec.ts', inTests: true }]);
  });

  it('BL-2 returns its best result when its time is up, and says so', async () => {
    const isGreen = (text: string) => !text.includes('SIX') && !text.includes('ELEVEN');
    const { project, find, runs } = await repository((read) => isGreen(read('src/a.ts')));
    const both = replaceWord(replaceWord(files['src/a.ts'], 'six', 'SIX'), 'eleven', 'ELEVEN');
    project.write({ 'src/a.ts': both });
    for (let at = 0; at < 30; at += 1) project.write({ [`src/more${at}.ts`]: 'more\n' });
    // Each run takes a minute.
    const [blamed] = await find({ timeMs: 360_000, now: () => runs() * 60_000 })([cause]);
    expect(blamed?.blame).toMatchObject({ isMinimal: false, endedBy: 'time', runs: 6, outOf: 32 });
    expect(blamed?.blame?.hunks.map(({ file }) => file)).toContain('src/a.ts');
    expect(blamed?.blame?.hunks.length).toBeLessThan(32);
  });

  it.each([
    [
      'no repository',
      async () => agentWorkspace(files, { git: false }),
      'the project is not a git repository',
    ],
    ['nothing changed', async () => agentWorkspace(files), 'no file differs from'],
  ])('BL-2 does not search, and says why once: %s', async (_, make, why) => {
    const project = await make();
    const { find, told } = await repository(() => true);
    const blamed = find({ workspace: project.workspace, cwd: project.dir });
    expect(await blamed([cause])).toEqual([cause]);
    expect(await blamed([cause])).toEqual([cause]);
    expect(told).toEqual([[null, expect.stringContaining(why)]]);
  });

  it('BL-2 does not search files that a fix of this run has edited', async () => {
    const { project, find, told, runs } = await repository(() => false);
    await project.applied((cwd) => writeFileSync(path.join(cwd, 'src/a.ts'), joinLines('fixed')));
    expect(await find()([cause])).toEqual([cause]);
    expect(runs()).toBe(0);
    expect(told).toEqual([[null, expect.stringContaining('no file differs from')]]);
  });

  it('BL-2 BL-5 ends its current suite run and restores the tree when its time is up', async () => {
    const { project, find, told } = await repository(() => true);
    project.write({ 'src/a.ts': replaceWord(files['src/a.ts'], 'six', 'SIX') });
    const rerun = async ({ signal }: { signal: AbortSignal }) => {
      expect(project.read('src/a.ts')).toBe(files['src/a.ts']);
      // On a busy machine the time may be up before the suite run begins.
      if (!signal.aborted)
        await new Promise((done) => signal.addEventListener('abort', done, { once: true }));
      return aSuiteRun();
    };
    await find({ rerun, timeMs: 300 })([cause]);
    expect(told).toEqual([['c1', 'found no change to blame: no result within the time limit (blame.time)']]);
    expect(project.read('src/a.ts')).toBe(replaceWord(files['src/a.ts'], 'six', 'SIX'));
  });

  it('BL-5 HN-2 keeps a journal from which the next command restores the files after a kill', async () => {
    const { project, find } = await repository(() => true);
    project.write({ 'src/a.ts': replaceWord(files['src/a.ts'], 'six', 'SIX'), 'src/new.ts': 'new\n' });
    const before = readTree(project);
    let killed: string[] = [];
    const rerun = async () => {
      expect(readTree(project)).not.toEqual(before);
      // After a kill, another process recovers the project.
      const recovered = await recoverKilledRuns(project.dir);
      killed = recovered.ok ? [...recovered.value] : [];
      expect(readTree(project)).toEqual(before);
      return aSuiteRun();
    };
    await find({ rerun, timeMs: 60_000 })([cause]);
    expect(killed.join()).toContain('reverted an unproven change');
    expect(readFileSync(path.join(project.dir, 'src/new.ts'), 'utf8')).toBe('new\n');
    expect(readTree(project)).toEqual(before);
  });
});
