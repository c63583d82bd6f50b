import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createBlame } from '../../src/blame/create-blame.js';
import type { Blame } from '../../src/core/blame.js';
import { recoverKilledRuns } from '../../src/run/recover.js';
import { contentsOf, keepChange } from '../../src/workspace/change.js';
import { type AgentWorkspace, agentWorkspace, inventoryOf } from '../rig/agent-workspace.js';
import {
  aCause,
  aDiagnosed,
  aDiagnosis,
  aResult,
  aSuiteRun,
  aTest,
  aTestFailure,
  failing,
} from '../rig/builders.js';

const lines = (...some: string[]) => `${some.join('\n')}\n`;
const filler = ['two', 'three', 'four', 'five'];
const files = {
  'src/a.ts': lines('one', ...filler, 'six', ...filler, 'eleven'),
  'src/b.ts': lines('one', ...filler, 'six'),
  'tests/shop.spec.ts': lines('test'),
};

/** A repository, and a test that is green while a condition on its files holds; null for a state that does not start. */
async function repository(green: (read: (file: string) => string) => boolean | null, at = '') {
  const project = await agentWorkspace(
    Object.fromEntries(Object.entries(files).map(([file, text]) => [path.posix.join(at, file), text])),
    { at },
  );
  const told: (readonly [string | null, Blame | string])[] = [];
  let runs = 0;
  const find = (over: Partial<Parameters<typeof createBlame>[0]> = {}) =>
    createBlame({
      cwd: path.join(project.dir, at),
      workspace: project.workspace,
      contents: contentsOf(project.runDir),
      keepChange: (change) => keepChange(project.runDir, change),
      rootFromProject: at === '' ? '' : '..',
      prepare: async () => null,
      runAgain: async ({ ids }) => {
        runs += 1;
        const isGreen = green((file) => project.read(path.posix.join(at, file)));
        if (isGreen === null) return aSuiteRun();
        return aSuiteRun({
          tests: (ids ?? []).map((id) => aResult(id, isGreen ? 'expected' : 'unexpected')),
        });
      },
      warn: (message) => void project.warnings.push(message),
      signal: new AbortController().signal,
      now: () => Date.now(),
      limits: { runs: 12, timeMs: 120_000 },
      named: null,
      lastGreen: async () => null,
      isTest: (file) => file.includes('tests/'),
      likelyMs: () => null,
      tell: (id, answer) => void told.push([id, answer]),
      always: false,
      ...over,
    });
  const commit = (subject: string, changed: Record<string, string>) => {
    project.write(
      Object.fromEntries(Object.entries(changed).map(([file, text]) => [path.posix.join(at, file), text])),
    );
    project.git('add', '--all');
    project.git(
      '-c',
      'user.name=Ann',
      '-c',
      'user.email=ann@example.com',
      'commit',
      '--quiet',
      '-m',
      subject,
    );
    return project.git('rev-parse', 'HEAD');
  };
  return { project, find, commit, told, runs: () => runs };
}

const changed = (text: string, from: string, to: string) => text.replace(from, to);
const cause = aCause({ lead: failing('t1') });

function stateOf({ dir }: AgentWorkspace) {
  return inventoryOf(dir);
}

describe('the change to blame', () => {
  it('BL-1 BL-3 BL-5 of three commits and what is not committed: its commit, its line, its text; the tree is as it was', async () => {
    const { project, find, commit, told } = await repository((read) => !read('src/a.ts').includes('SIX'));
    project.git('checkout', '--quiet', '-b', 'feature');
    const [a, b] = [files['src/a.ts'], files['src/b.ts']];
    commit('first', { 'src/b.ts': changed(b, 'one', 'ONE') });
    const culprit = commit('louder', { 'src/a.ts': changed(changed(a, 'six', 'SIX'), 'eleven', 'ELEVEN') });
    commit('third', { 'src/b.ts': changed(changed(b, 'one', 'ONE'), 'six', 'six!') });
    project.write({
      'src/a.ts': changed(changed(changed(a, 'six', 'SIX'), 'eleven', 'ELEVEN'), 'one', 'uno'),
    });
    const before = stateOf(project);
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
    expect(stateOf(project)).toEqual(before);
  });

  it('BL-1 what is not committed, and a new file', async () => {
    const { project, find } = await repository((read) => !read('src/a.ts').includes('SIX'));
    project.write({ 'src/a.ts': changed(files['src/a.ts'], 'six', 'SIX'), 'src/new.ts': 'new\n' });
    const [blamed] = await find()([cause]);
    expect(blamed?.blame).toMatchObject({
      base: { from: 'head' },
      hunks: [{ file: 'src/a.ts', commit: null }],
      outOf: 2,
    });
    expect(project.read('src/new.ts')).toBe('new\n');
  });

  it('BL-1 in a project below the top of its repository, a change beside it', async () => {
    const { project, find } = await repository(() => !project.read('lib/x.ts').includes('broken'), 'web');
    project.write({ 'lib/x.ts': 'fine\n' });
    project.git('add', '--all');
    project.git('-c', 'user.name=me', '-c', 'user.email=me@example.com', 'commit', '--quiet', '-m', 'lib');
    project.write({ 'lib/x.ts': 'broken\n' });
    const [blamed] = await find()([cause]);
    expect(blamed?.blame?.hunks).toMatchObject([{ file: '../lib/x.ts', line: 1 }]);
    expect(project.read('lib/x.ts')).toBe('broken\n');
  });

  it('BL-1 where the error came from a line that changed, one run will do', async () => {
    const { project, find, runs } = await repository((read) => !read('src/a.ts').includes('SIX'));
    project.write({ 'src/a.ts': changed(files['src/a.ts'], 'six', 'SIX'), 'src/b.ts': lines('other') });
    const facts = { ...aDiagnosis().facts, source: 'src/a.ts:6:3' };
    const [blamed] = await find()([aCause({ lead: aDiagnosed({ diagnosis: aDiagnosis({ facts }) }) })]);
    expect(blamed?.blame?.hunks).toMatchObject([{ file: 'src/a.ts', line: 6 }]);
    expect(runs()).toBe(1);
  });

  it('BL-1 the tests’ own change is named only where no change of the app will do', async () => {
    const { project, find } = await repository((read) => read('tests/shop.spec.ts') === lines('test'));
    project.write({ 'src/a.ts': lines('other'), 'tests/shop.spec.ts': lines('changed') });
    const [blamed] = await find()([cause]);
    expect(blamed?.blame?.hunks).toMatchObject([{ file: 'tests/shop.spec.ts', inTests: true }]);
  });

  it('BL-1 a state that does not start is unresolved: two hunks that need each other are found together', async () => {
    const { project, find } = await repository((read) => {
      const [a, b] = [read('src/a.ts').includes('SIX'), read('src/b.ts').includes('SIX')];
      return a === b ? !a : null;
    });
    const more = Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`src/more${at}.ts`, 'more\n']));
    project.write({
      ...more,
      'src/a.ts': changed(files['src/a.ts'], 'six', 'SIX'),
      'src/b.ts': changed(files['src/b.ts'], 'six', 'SIX'),
    });
    const [blamed] = await find()([cause]);
    expect(blamed?.blame?.hunks.map(({ file }) => file)).toEqual(['src/a.ts', 'src/b.ts']);
    expect(blamed?.blame?.unresolved).toBeGreaterThan(0);
  });

  it('BL-2 several causes share runs, and each has its own answer', async () => {
    const { project, find, runs } = await repository((read) => !read('src/a.ts').includes('SIX'));
    project.write({ 'src/a.ts': changed(files['src/a.ts'], 'six', 'SIX'), 'src/b.ts': lines('other') });
    const quick = (id: string) =>
      failing(id, 'boom', { failure: aTestFailure({ test: aTest(id), durationMs: 5 }) });
    const causes = ['t1', 't2'].map((id, at) => aCause({ id: `c${at + 1}`, lead: quick(id) }));
    const blamed = await find()(causes);
    const [first, second] = blamed.map(({ blame }) => blame);
    expect(second?.hunks).toEqual(first?.hunks);
    expect(second?.runs).toBe(0);
    expect(runs()).toBe(first?.runs);
  });

  it('BL-2 at its limit of runs it gives the best it has, and says so', async () => {
    const { project, find } = await repository((read) => !read('src/a.ts').includes('SIX'));
    project.write({ 'src/a.ts': changed(files['src/a.ts'], 'six', 'SIX') });
    for (let at = 0; at < 30; at += 1) project.write({ [`src/more${at}.ts`]: 'more\n' });
    const [blamed] = await find({ limits: { runs: 3, timeMs: 60_000 } })([cause]);
    expect(blamed?.blame).toMatchObject({ isMinimal: false, endedBy: 'runs', runs: 3, outOf: 31 });
    expect(blamed?.blame?.hunks.map(({ file }) => file)).toContain('src/a.ts');
    expect(blamed?.blame?.hunks.length).toBeLessThan(31);
  });

  it.each([
    ['no repository', async () => agentWorkspace(files, { git: false }), 'the project is no git repository'],
    ['nothing changed', async () => agentWorkspace(files), 'no file differs from'],
  ])('BL-2 off, and said once: %s', async (_, make, why) => {
    const project = await make();
    const { find, told } = await repository(() => true);
    const blamed = find({ workspace: project.workspace, cwd: project.dir });
    expect(await blamed([cause])).toEqual([cause]);
    expect(await blamed([cause])).toEqual([cause]);
    expect(told).toEqual([[null, expect.stringContaining(why)]]);
  });

  it('BL-2 what a fix of the run has edited is not searched', async () => {
    const { project, find, told, runs } = await repository(() => false);
    await project.applied((cwd) => writeFileSync(path.join(cwd, 'src/a.ts'), lines('fixed')));
    expect(await find()([cause])).toEqual([cause]);
    expect(runs()).toBe(0);
    expect(told).toEqual([[null, expect.stringContaining('no file differs from')]]);
  });

  it('BL-2 red at the base too: no answer, after one run', async () => {
    const { project, find, told, runs } = await repository(() => false);
    project.write({ 'src/a.ts': lines('other') });
    expect(await find()([cause])).toEqual([cause]);
    expect(told).toEqual([['c1', expect.stringContaining('it is red without the 1 change since')]]);
    expect(runs()).toBe(1);
  });

  it('BL-2 a search that cannot end within its time is not begun in a run, but is where a person asked', async () => {
    const { project, find, told, runs } = await repository(() => false);
    project.write({ 'src/a.ts': lines('other') });
    await find({ likelyMs: () => 60_000 })([cause]);
    expect(runs()).toBe(0);
    expect(told).toEqual([['c1', expect.stringContaining('more than blame.time leaves')]]);
    await find({ likelyMs: () => 60_000, always: true })([cause]);
    expect(runs()).toBe(1);
  });

  it('BL-2 BL-5 its time is over in the middle of a run: the run is ended, and the tree is as it was', async () => {
    const { project, find, told } = await repository(() => true);
    project.write({ 'src/a.ts': changed(files['src/a.ts'], 'six', 'SIX') });
    const runAgain = async ({ signal }: { signal: AbortSignal }) => {
      expect(project.read('src/a.ts')).toBe(files['src/a.ts']);
      // On a busy machine its time may be over before it begins.
      if (!signal.aborted)
        await new Promise((done) => signal.addEventListener('abort', done, { once: true }));
      return aSuiteRun();
    };
    await find({ runAgain, limits: { runs: 12, timeMs: 300 } })([cause]);
    expect(told).toEqual([['c1', 'no answer within the limit (time)']]);
    expect(project.read('src/a.ts')).toBe(changed(files['src/a.ts'], 'six', 'SIX'));
  });

  it('BL-5 HN-2 killed in the middle of a run: the journal says what the files were, and the next command brings them back', async () => {
    const { project, find } = await repository(() => true);
    project.write({ 'src/a.ts': changed(files['src/a.ts'], 'six', 'SIX'), 'src/new.ts': 'new\n' });
    const before = stateOf(project);
    let killed: string[] = [];
    const runAgain = async () => {
      expect(stateOf(project)).not.toEqual(before);
      // What a kill leaves is put in order by another process.
      const recovered = await recoverKilledRuns(project.dir);
      killed = recovered.ok ? [...recovered.value] : [];
      expect(stateOf(project)).toEqual(before);
      return aSuiteRun();
    };
    await find({ runAgain, limits: { runs: 1, timeMs: 60_000 } })([cause]);
    expect(killed.join()).toContain('was reverted');
    expect(readFileSync(path.join(project.dir, 'src/new.ts'), 'utf8')).toBe('new\n');
    expect(stateOf(project)).toEqual(before);
  });
});

describe('the change to blame, in repositories as people have them', () => {
  const [a, b] = [files['src/a.ts'], files['src/b.ts']];
  const SIX = changed(a, 'six', 'SIX');

  const merge = (project: AgentWorkspace, branch: string) =>
    project.git(
      '-c',
      'user.name=Ann',
      '-c',
      'user.email=a@b.c',
      'merge',
      '--quiet',
      '--no-ff',
      '-m',
      'merged',
      branch,
    );

  it('BL-1 BL-5 a commit that came by a merge is to blame, not the merge; a detached HEAD is no matter', async () => {
    const { project, find, commit } = await repository((read) => !read('src/a.ts').includes('SIX'));
    project.git('checkout', '--quiet', '-b', 'other');
    const culprit = commit('louder', { 'src/a.ts': SIX });
    project.git('checkout', '--quiet', '-b', 'feature', 'main');
    commit('mine', { 'src/b.ts': changed(b, 'one', 'ONE') });
    merge(project, 'other');
    project.git('checkout', '--quiet', '--detach');
    const before = stateOf(project);
    const [blamed] = await find()([cause]);
    expect(blamed?.blame?.hunks).toMatchObject([
      { file: 'src/a.ts', line: 6, commit: { id: culprit, subject: 'louder' } },
    ]);
    expect(stateOf(project)).toEqual(before);
  });

  it('BL-1 BL-3 of a pull request as CI systems check it out, merged into main, its own commit is to blame, and nothing of main', async () => {
    const { project, find, commit } = await repository((read) => !read('src/a.ts').includes('SIX'));
    project.git('checkout', '--quiet', '-b', 'feature');
    commit('before it', { 'src/a.ts': changed(a, 'one', 'uno') });
    const culprit = commit('louder', { 'src/a.ts': changed(SIX, 'one', 'uno') });
    commit('after it', { 'src/b.ts': changed(b, 'six', 'sechs') });
    project.git('checkout', '--quiet', 'main');
    commit('of main', { 'src/a.ts': changed(a, 'eleven', 'elf'), 'src/more.ts': 'more\n' });
    project.git('checkout', '--quiet', '--detach');
    merge(project, 'feature');
    const [blamed] = await find()([cause]);
    expect(blamed?.blame).toMatchObject({
      hunks: [{ file: 'src/a.ts', line: 6, commit: { id: culprit, subject: 'louder' } }],
      outOf: 3,
    });
  });

  it('BL-1 BL-3 what a merge itself made of a conflict is the merge’s', async () => {
    const { project, find, commit } = await repository((read) => !read('src/a.ts').includes('VI'));
    project.git('checkout', '--quiet', '-b', 'feature');
    commit('louder', { 'src/a.ts': SIX });
    project.git('checkout', '--quiet', 'main');
    commit('of main', { 'src/a.ts': changed(a, 'six', 'sechs') });
    project.git('checkout', '--quiet', 'feature');
    expect(() => merge(project, 'main')).toThrow();
    const id = commit('both', { 'src/a.ts': changed(a, 'six', 'VI') });
    const [blamed] = await find()([cause]);
    expect(blamed?.blame?.hunks).toMatchObject([{ line: 6, old: ['sechs'], now: ['VI'], commit: { id } }]);
  });

  it('BL-1 BL-5 in the middle of a rebase with a conflict: what is not committed is searched, and the rebase goes on', async () => {
    const { project, find, commit } = await repository((read) => !read('src/b.ts').includes('broken'));
    project.git('checkout', '--quiet', '-b', 'feature');
    commit('mine', { 'src/a.ts': SIX });
    project.git('checkout', '--quiet', 'main');
    commit('theirs', { 'src/a.ts': changed(a, 'six', 'sechs') });
    project.git('checkout', '--quiet', 'feature');
    expect(() => project.git('-c', 'user.name=me', '-c', 'user.email=a@b.c', 'rebase', 'main')).toThrow();
    project.write({ 'src/b.ts': changed(b, 'one', 'broken') });
    const [status, before] = [project.git('status', '--porcelain'), stateOf(project)];
    const [blamed] = await find()([cause]);
    expect(blamed?.blame?.hunks).toMatchObject([{ file: 'src/b.ts', line: 1, commit: null }]);
    expect(project.git('status', '--porcelain')).toBe(status);
    expect(stateOf(project)).toEqual(before);
  });

  it('BL-1 BL-5 files of Windows and what git keeps of them: the one line, with its ends', async () => {
    const { project, find, commit } = await repository((read) => !read('src/a.ts').includes('SIX'));
    project.git('config', 'core.autocrlf', 'true');
    const crlf = (text: string) => text.replaceAll('\n', '\r\n');
    project.git('checkout', '--quiet', '-b', 'feature');
    commit('louder', { 'src/a.ts': crlf(SIX) });
    const before = stateOf(project);
    const [blamed] = await find({
      runAgain: async ({ ids }) => {
        const text = project.read('src/a.ts');
        expect(text.replaceAll('\r\n', '')).not.toContain('\n');
        return aSuiteRun({
          tests: (ids ?? []).map((id) => aResult(id, text.includes('SIX') ? 'unexpected' : 'expected')),
        });
      },
    })([cause]);
    expect(blamed?.blame).toMatchObject({
      hunks: [{ file: 'src/a.ts', line: 6, old: ['six'], now: ['SIX'], commit: { subject: 'louder' } }],
      outOf: 1,
    });
    expect(stateOf(project)).toEqual(before);
  });

  it('BL-1 BL-5 a binary file, a file that is not tracked, and one that was renamed', async () => {
    const bytes = '\u0000\u0001picture';
    const { project, find, commit } = await repository((read) => !read('picture.bin').includes('broken'));
    project.write({ 'picture.bin': bytes });
    project.git('add', '--all');
    project.git('-c', 'user.name=me', '-c', 'user.email=a@b.c', 'commit', '--quiet', '-m', 'picture');
    project.git('checkout', '--quiet', '-b', 'feature');
    project.git('mv', 'src/b.ts', 'src/moved.ts');
    commit('another picture', { 'picture.bin': `${bytes}broken` });
    project.write({ 'src/new.ts': 'new\n' });
    const before = stateOf(project);
    const [blamed] = await find()([cause]);
    expect(blamed?.blame?.hunks).toMatchObject([
      { file: 'picture.bin', whole: true, commit: { subject: 'another picture' } },
    ]);
    expect(stateOf(project)).toEqual(before);
  });

  it('BL-1 BL-5 a file that is not tracked is to blame, and one that was renamed is where the test looks for its old name', async () => {
    const { project, find } = await repository(() => !('src/new.ts' in stateOf(project)));
    project.write({ 'src/new.ts': 'new\n', 'src/a.ts': SIX });
    const [blamed] = await find()([cause]);
    expect(blamed?.blame?.hunks).toMatchObject([{ file: 'src/new.ts', whole: true, commit: null }]);
    expect(project.read('src/new.ts')).toBe('new\n');
    const other = await repository(() => 'src/b.ts' in stateOf(other.project));
    other.project.git('checkout', '--quiet', '-b', 'feature');
    other.project.git('mv', 'src/b.ts', 'src/moved.ts');
    other.commit('tidier', { 'src/a.ts': SIX });
    const before = stateOf(other.project);
    const [renamed] = await other.find()([cause]);
    expect(renamed?.blame?.hunks).toMatchObject([
      { file: 'src/b.ts', whole: true, commit: { subject: 'tidier' } },
    ]);
    expect(stateOf(other.project)).toEqual(before);
  });

  it('BL-2 of a clone with the last commit alone it says what is missing, and searches what is not committed', async () => {
    const { project, find, told, commit } = await repository((read) => !read('src/b.ts').includes('other'));
    project.git('checkout', '--quiet', '-b', 'feature');
    const head = commit('louder', { 'src/a.ts': SIX });
    // What `git clone --depth 1` leaves.
    writeFileSync(path.join(project.dir, '.git/shallow'), `${head}\n`);
    expect(await find()([cause])).toEqual([cause]);
    expect(told).toEqual([[null, expect.stringMatching(/^no file differs .*: fetch more history$/)]]);
    project.write({ 'src/b.ts': 'other\n' });
    const [blamed] = await find()([cause]);
    expect(blamed?.blame).toMatchObject({ base: { from: 'head' }, hunks: [{ file: 'src/b.ts' }] });
  });

  it('BL-2 a repository that has lost what git needs is no error of the run', async () => {
    const { project, find, told, commit } = await repository(() => true);
    project.git('checkout', '--quiet', '-b', 'feature');
    commit('louder', { 'src/a.ts': SIX });
    const tree = project.git('rev-parse', 'main^{tree}');
    rmSync(path.join(project.dir, '.git/objects', tree.slice(0, 2), tree.slice(2)));
    expect(await find()([cause])).toEqual([cause]);
    expect(told).toEqual([[null, expect.stringMatching(/^git cannot read what changed: (?!Command)/)]]);
  });

  it('BL-1 BL-5 a submodule is left as it is, whatever it is at', async () => {
    const { project, find, commit } = await repository((read) => !read('src/a.ts').includes('SIX'));
    const inner = await agentWorkspace({ 'x.ts': 'inner\n' });
    project.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.dir, 'lib');
    project.git('-c', 'user.name=me', '-c', 'user.email=a@b.c', 'commit', '--quiet', '-m', 'with lib');
    project.git('checkout', '--quiet', '-b', 'feature');
    commit('louder', { 'src/a.ts': SIX });
    project.write({ 'lib/x.ts': 'changed\n', 'lib/new.ts': 'new\n' });
    const before = stateOf(project);
    const [blamed] = await find()([cause]);
    expect(blamed?.blame).toMatchObject({ hunks: [{ file: 'src/a.ts', line: 6 }], outOf: 1 });
    expect(stateOf(project)).toEqual(before);
  });
});
