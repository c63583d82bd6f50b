import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AgentWorkspace, agentWorkspace } from '../rig/agent-workspace.js';
import { cause, replaceWord, files, repository, readTree } from '../rig/blame-repository.js';
import { aResult, aSuiteRun } from '../rig/builders.js';

describe('blame in real-world repositories', () => {
  const [a, b] = [files['src/a.ts'], files['src/b.ts']];
  const SIX = replaceWord(a, 'six', 'SIX');

  const merge = (project: AgentWorkspace, branch: string) =>
    project.git('merge', '--quiet', '--no-ff', '-m', 'merged', branch);

  it('BL-1 BL-5 blames a commit that a merge brought in, not the merge, even with a detached HEAD', async () => {
    const { project, find, commit } = await repository((read) => !read('src/a.ts').includes('SIX'));
    project.git('checkout', '--quiet', '-b', 'other');
    const culprit = commit('louder', { 'src/a.ts': SIX });
    project.git('checkout', '--quiet', '-b', 'feature', 'main');
    commit('mine', { 'src/b.ts': replaceWord(b, 'one', 'ONE') });
    merge(project, 'other');
    project.git('checkout', '--quiet', '--detach');
    const before = readTree(project);
    const [blamed] = await find()([cause]);
    expect(blamed?.blame?.hunks).toMatchObject([
      { file: 'src/a.ts', line: 6, commit: { id: culprit, subject: 'louder' } },
    ]);
    expect(readTree(project)).toEqual(before);
  });

  it('BL-1 BL-3 blames a commit of the pull request, not of main, in the merge commit of a CI system', async () => {
    const { project, find, commit } = await repository((read) => !read('src/a.ts').includes('SIX'));
    project.git('checkout', '--quiet', '-b', 'feature');
    commit('before it', { 'src/a.ts': replaceWord(a, 'one', 'uno') });
    const culprit = commit('louder', { 'src/a.ts': replaceWord(SIX, 'one', 'uno') });
    commit('after it', { 'src/b.ts': replaceWord(b, 'six', 'sechs') });
    project.git('checkout', '--quiet', 'main');
    commit('of main', { 'src/a.ts': replaceWord(a, 'eleven', 'elf'), 'src/more.ts': 'more\n' });
    project.git('checkout', '--quiet', '--detach');
    merge(project, 'feature');
    const [blamed] = await find()([cause]);
    expect(blamed?.blame).toMatchObject({
      hunks: [{ file: 'src/a.ts', line: 6, commit: { id: culprit, subject: 'louder' } }],
      outOf: 3,
    });
  });

  it('BL-1 BL-3 blames a merge for how it resolved a conflict', async () => {
    const { project, find, commit } = await repository((read) => !read('src/a.ts').includes('VI'));
    project.git('checkout', '--quiet', '-b', 'feature');
    commit('louder', { 'src/a.ts': SIX });
    project.git('checkout', '--quiet', 'main');
    commit('of main', { 'src/a.ts': replaceWord(a, 'six', 'sechs') });
    project.git('checkout', '--quiet', 'feature');
    expect(() => merge(project, 'main')).toThrow();
    const id = commit('both', { 'src/a.ts': replaceWord(a, 'six', 'VI') });
    const [blamed] = await find()([cause]);
    expect(blamed?.blame?.hunks).toMatchObject([{ line: 6, old: ['sechs'], now: ['VI'], commit: { id } }]);
  });

  it('BL-1 BL-5 searches uncommitted changes during a conflicting rebase, and leaves it as it is', async () => {
    const { project, find, commit } = await repository((read) => !read('src/b.ts').includes('broken'));
    project.git('checkout', '--quiet', '-b', 'feature');
    commit('mine', { 'src/a.ts': SIX });
    project.git('checkout', '--quiet', 'main');
    commit('theirs', { 'src/a.ts': replaceWord(a, 'six', 'sechs') });
    project.git('checkout', '--quiet', 'feature');
    expect(() => project.git('rebase', 'main')).toThrow();
    project.write({ 'src/b.ts': replaceWord(b, 'one', 'broken') });
    const [status, before] = [project.git('status', '--porcelain'), readTree(project)];
    const [blamed] = await find()([cause]);
    expect(blamed?.blame?.hunks).toMatchObject([{ file: 'src/b.ts', line: 1, commit: null }]);
    expect(project.git('status', '--porcelain')).toBe(status);
    expect(readTree(project)).toEqual(before);
  });

  it('BL-1 BL-5 blames a single line of a CRLF file with core.autocrlf, and keeps its line endings', async () => {
    const { project, find, commit } = await repository((read) => !read('src/a.ts').includes('SIX'));
    project.git('config', 'core.autocrlf', 'true');
    const crlf = (text: string) => text.replaceAll('\n', '\r\n');
    project.git('checkout', '--quiet', '-b', 'feature');
    commit('louder', { 'src/a.ts': crlf(SIX) });
    const before = readTree(project);
    const [blamed] = await find({
      rerun: async ({ ids }) => {
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
    expect(readTree(project)).toEqual(before);
  });

  it('BL-1 BL-5 treats files outside a sparse checkout as unchanged, and never writes them', async () => {
    const { project, find, commit, runs } = await repository((read) => !read('src/a.ts').includes('SIX'));
    commit('data', { 'big/data.txt': 'data\n' });
    project.git('checkout', '--quiet', '-b', 'feature');
    commit('louder', { 'src/a.ts': SIX, 'big/data.txt': 'more data\n' });
    project.git('sparse-checkout', 'set', '--no-cone', '/*', '!/big/');
    const before = readTree(project);
    const [blamed] = await find()([cause]);
    expect(blamed?.blame).toMatchObject({ hunks: [{ file: 'src/a.ts', now: ['SIX'] }], outOf: 1 });
    expect(runs()).toBe(2);
    expect(readTree(project)).toEqual(before);
  });

  it('BL-1 BL-3 names the commit that removed a line, unless that is not committed', async () => {
    const { project, find, commit } = await repository((read) => read('src/a.ts').includes('six'));
    project.git('checkout', '--quiet', '-b', 'feature');
    const id = commit('shorter', { 'src/a.ts': replaceWord(a, 'six\n', '') });
    commit('after it', { 'src/a.ts': replaceWord(replaceWord(a, 'six\n', ''), 'eleven', 'elf') });
    const [committed] = await find()([cause]);
    expect(committed?.blame?.hunks).toMatchObject([{ line: 6, old: ['six'], now: [], commit: { id } }]);
    project.git('checkout', '--quiet', 'main');
    project.write({ 'src/a.ts': replaceWord(a, 'six\n', '') });
    const [open] = await find()([cause]);
    expect(open?.blame?.hunks).toMatchObject([{ line: 6, old: ['six'], now: [], commit: null }]);
  });

  it('BL-1 BL-5 blames a binary file as a whole, next to an untracked and a renamed one', async () => {
    const bytes = '\u0000\u0001picture';
    const { project, find, commit } = await repository((read) => !read('picture.bin').includes('broken'));
    project.write({ 'picture.bin': bytes });
    project.git('add', '--all');
    project.git('commit', '--quiet', '-m', 'picture');
    project.git('checkout', '--quiet', '-b', 'feature');
    project.git('mv', 'src/b.ts', 'src/moved.ts');
    commit('another picture', { 'picture.bin': `${bytes}broken` });
    project.write({ 'src/new.ts': 'new\n' });
    const before = readTree(project);
    const [blamed] = await find()([cause]);
    expect(blamed?.blame?.hunks).toMatchObject([
      { file: 'picture.bin', whole: true, commit: { subject: 'another picture' } },
    ]);
    expect(readTree(project)).toEqual(before);
  });

  it('BL-1 BL-5 blames an untracked file, and a renamed one if the test needs its old name', async () => {
    const { project, find } = await repository(() => !('src/new.ts' in readTree(project)));
    project.write({ 'src/new.ts': 'new\n', 'src/a.ts': SIX });
    const [blamed] = await find()([cause]);
    expect(blamed?.blame?.hunks).toMatchObject([{ file: 'src/new.ts', whole: true, commit: null }]);
    expect(project.read('src/new.ts')).toBe('new\n');
    const other = await repository(() => 'src/b.ts' in readTree(other.project));
    other.project.git('checkout', '--quiet', '-b', 'feature');
    other.project.git('mv', 'src/b.ts', 'src/moved.ts');
    other.commit('tidier', { 'src/a.ts': SIX });
    const before = readTree(other.project);
    const [renamed] = await other.find()([cause]);
    expect(renamed?.blame?.hunks).toMatchObject([
      { file: 'src/b.ts', whole: true, commit: { subject: 'tidier' } },
    ]);
    expect(readTree(other.project)).toEqual(before);
  });

  it('BL-2 asks for more history in a shallow clone, and searches the uncommitted changes', async () => {
    const { project, find, told, commit } = await repository((read) => !read('src/b.ts').includes('other'));
    project.git('checkout', '--quiet', '-b', 'feature');
    const head = commit('louder', { 'src/a.ts': SIX });
    // What `git clone --depth 1` leaves.
    writeFileSync(path.join(project.dir, '.git/shallow'), `${head}\n`);
    expect(await find()([cause])).toEqual([cause]);
    expect(told).toEqual([[null, expect.stringMatching(/: no file differs .*: fetch more history$/)]]);
    project.write({ 'src/b.ts': 'other\n' });
    const [blamed] = await find()([cause]);
    expect(blamed?.blame).toMatchObject({ base: { from: 'head' }, hunks: [{ file: 'src/b.ts' }] });
    project.write({ 'src/b.ts': b, 'src/more.ts': 'more\n' });
    told.length = 0;
    expect(
      await find({
        rerun: async ({ ids }) => aSuiteRun({ tests: (ids ?? []).map((id) => aResult(id, 'unexpected')) }),
      })([cause]),
    ).toEqual([cause]);
    expect(told).toEqual([
      ['c1', expect.stringMatching(/: it also fails with the 1 change .*: fetch more history$/)],
    ]);
  });

  it('BL-1 BL-5 leaves a submodule and its changes as they are', async () => {
    const { project, find, commit } = await repository((read) => !read('src/a.ts').includes('SIX'));
    const inner = await agentWorkspace({ 'x.ts': 'inner\n' });
    project.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.dir, 'lib');
    project.git('commit', '--quiet', '-m', 'with lib');
    project.git('checkout', '--quiet', '-b', 'feature');
    commit('louder', { 'src/a.ts': SIX });
    project.write({ 'lib/x.ts': 'changed\n', 'lib/new.ts': 'new\n' });
    const before = readTree(project);
    const [blamed] = await find()([cause]);
    expect(blamed?.blame).toMatchObject({ hunks: [{ file: 'src/a.ts', line: 6 }], outOf: 1 });
    expect(readTree(project)).toEqual(before);
  });
});
