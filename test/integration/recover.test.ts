import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { execaSync } from 'execa';
import { describe, expect, it } from 'vitest';
import { formatProblem } from '../../src/problem.js';
import { recoverKilledRuns } from '../../src/run/recover.js';
import { undoChanges } from '../../src/run/undo.js';
import type { Change } from '../../src/workspace/change.js';
import { type AgentWorkspace, agentWorkspace, inventoryOf, writeInto } from '../rig/agent-workspace.js';
import { tempDir } from '../rig/temp-dir.js';

const files = { 'package.json': '{}\n', 'a.js': 'old a\n', 'b.js': 'old b\n', 'gone.js': 'old\n' };
const fixed = { 'a.js': 'fixed a\n', 'b.js': 'fixed b\n', 'new/c.js': 'new\n' };

interface Killed extends AgentWorkspace {
  /** The project's folder. */
  readonly project: string;
  readonly journal: string;
  readonly change: Change;
  readonly before: Record<string, string>;
  readonly after: Record<string, string>;
}

/** A project whose run was killed after it had applied a fix. */
async function killed(at = ''): Promise<Killed> {
  const placed = Object.fromEntries(Object.entries(files).map(([name, text]) => [path.join(at, name), text]));
  const made = await agentWorkspace(placed, { at });
  const before = inventoryOf(made.dir);
  const done = await made.applied((cwd) => {
    writeInto(cwd, fixed);
    rmSync(path.join(cwd, 'gone.js'));
  });
  if (done.kind !== 'applied') throw new Error(done.kind);
  const project = path.join(made.dir, at);
  const journal = path.join(project, '.self-heal/journal.json');
  return { ...made, project, journal, change: done.change, before, after: inventoryOf(made.dir) };
}

/** What the next command says; a problem as people read it. */
async function nextCommand(project: string): Promise<string> {
  const recovered = await recoverKilledRuns(project);
  return recovered.ok ? recovered.value.join('\n') : formatProblem(recovered.error);
}

describe('a killed run', () => {
  it.each([
    ['after its whole change was written', {}],
    ['after half of its change was written', { 'b.js': 'old b\n' }],
    ['before any of its change was written', { ...files, 'new/c.js': null }],
    ['after a deleted file was restored', { 'gone.js': 'old\n' }],
  ])('HN-2 %s is reverted by the next command', async (_, state) => {
    const { dir, before, project, journal } = await killed();
    for (const [name, text] of Object.entries(state)) {
      if (text === null) rmSync(path.join(dir, name));
      else writeFileSync(path.join(dir, name), text);
    }
    writeFileSync(path.join(dir, '.a.js.self-heal'), 'half a temporary file');
    const message = await nextCommand(project);
    expect(inventoryOf(dir)).toEqual(before);
    if (!('new/c.js' in state))
      expect(message).toMatch(/reverted an unproven change.*\n.*attempts\/1\.patch/);
    expect(existsSync(journal)).toBe(false);
    expect(await nextCommand(project)).toBe('');
  });

  it('HN-2 is reverted except for files that the user has edited since, which are named', async () => {
    const { dir, before, write, read, project } = await killed();
    write({ 'a.js': 'mine\n', 'gone.js': 'mine too\n' });
    rmSync(path.join(dir, 'new'), { recursive: true });
    writeFileSync(path.join(dir, 'new'), 'a file of mine\n');
    const message = await nextCommand(project);
    expect(message).toContain('not touched, because they changed since: a.js, gone.js');
    const [, held = ''] = /intended content of a\.js: (.*)/.exec(message) ?? [];
    expect(readFileSync(path.join(project, held), 'utf8')).toBe(before['a.js']?.replace(/^644 /, ''));
    expect([read('a.js'), read('gone.js'), read('new'), read('b.js')]).toEqual([
      'mine\n',
      'mine too\n',
      'a file of mine\n',
      'old b\n',
    ]);
  });

  it('HN-2 HN-6 that had reverted proven fixes for a check gets them back', async () => {
    const { workspace, change, dir, after, project } = await killed();
    await workspace.markDecided([change.id]);
    await workspace.revertTemporarily([change.id]);
    expect(await nextCommand(project)).toContain(
      'reapplied a proven change that had been reverted for a check: gone.js',
    );
    expect(inventoryOf(dir)).toEqual(after);
  });

  it('HN-2 HN-8 can be undone, and a second undo finds nothing left to do', async () => {
    const { workspace, change, dir, before, project, runDir, journal } = await killed();
    await workspace.markDecided([change.id]);
    const run = { runId: path.basename(runDir), dir: runDir };
    await undoChanges(project, run, [change]);
    expect(inventoryOf(dir)).toEqual(before);
    expect((await undoChanges(project, run, [change])).written).toEqual([]);
    expect(existsSync(journal)).toBe(false);
  });
});

describe('a journal', () => {
  type Written = Record<string, unknown> & { files: { path: string }[] };
  const crafted = (edit: (journal: Written) => void) => (at: Killed) => {
    const journal = JSON.parse(readFileSync(at.journal, 'utf8')) as Written;
    edit(journal);
    writeFileSync(at.journal, JSON.stringify(journal));
  };
  const pathOf = (name: string) =>
    crafted(({ files: [first] }) => {
      if (first) first.path = name;
    });

  it.each<[string, (at: Killed) => void, RegExp]>([
    [
      'is cut off',
      ({ journal }) => writeFileSync(journal, readFileSync(journal, 'utf8').slice(0, 99)),
      /damaged/,
    ],
    ['is empty', ({ journal }) => writeFileSync(journal, ''), /damaged/],
    ['is not JSON', ({ journal }) => writeFileSync(journal, '\0\0'), /damaged/],
    ['is of a newer version', crafted((journal) => (journal['schemaVersion'] = 2)), /damaged/],
    ['leads out of the project', pathOf('../../etc/passwd'), /damaged/],
    ['is absolute', pathOf('/etc/passwd'), /damaged/],
    ['names a file of the repository', pathOf('.git/config'), /damaged/],
    ['names installed packages', pathOf('node_modules/a/index.js'), /damaged/],
    ['names a run by a path', crafted((journal) => (journal['runId'] = '../../x')), /damaged/],
    ['names a git option', crafted((journal) => (journal['changes'] = ['--output=x'])), /damaged/],
    [
      'names a different root',
      crafted((journal) => (journal['root'] = statSync('/').ino)),
      /no longer the same folder/,
    ],
    [
      'has lost its contents',
      ({ runDir }) => rmSync(path.join(path.dirname(path.dirname(runDir)), 'changes'), { recursive: true }),
      /gone/,
    ],
    [
      'has damaged contents',
      ({ runDir }) => {
        const folder = path.join(
          path.dirname(path.dirname(runDir)),
          'changes',
          path.basename(runDir),
          'contents',
        );
        for (const name of readdirSync(folder)) writeFileSync(path.join(folder, name), 'evil\n');
      },
      /damaged/,
    ],
  ])(
    'HN-2 that %s is reported, changes nothing, and does not block later commands',
    async (_, harm, says) => {
      const at = await killed();
      harm(at);
      const message = await nextCommand(at.project);
      expect(message).toMatch(says);
      expect(message).toContain('Nothing was changed');
      expect(inventoryOf(at.dir)).toEqual(at.after);
      expect(await nextCommand(at.project)).toBe('');
      expect(inventoryOf(at.dir)).toEqual(at.after);
    },
  );

  it('HN-2 that was copied with its project to another folder is refused there', async () => {
    const at = await killed();
    const other = path.join(tempDir(), 'other');
    cpSync(at.dir, other, { recursive: true });
    expect(await nextCommand(other)).toMatch(/written for another folder/);
    expect(inventoryOf(other)).toEqual(at.after);
  });

  it('HN-2 of a project that was moved is used at its new place', async () => {
    const at = await killed();
    const other = path.join(path.dirname(at.dir), `${path.basename(at.dir)} moved`);
    renameSync(at.dir, other);
    expect(await nextCommand(other)).toContain('reverted an unproven change');
    expect(inventoryOf(other)).toEqual(at.before);
    renameSync(other, at.dir);
  });
});

describe('the .self-heal folder', () => {
  it('EV-9 keeps no files of a killed run that may contain secrets', async () => {
    const project = tempDir();
    const suites = '.self-heal/runs/20260101-000000-abcd/suites';
    writeInto(project, {
      [`${suites}/../running.json`]: '{ "schemaVersion": 1, "pid": 4194304, "startedAt": "1" }',
      [`${suites}/1/output/1.json`]: 'unmasked',
      [`${suites}/1/server.log`]: 'masked',
      [`${suites}/2/report.ndjson`]: 'cut off',
      [`${suites}/2/server.log`]: 'unmasked',
    });
    expect((await recoverKilledRuns(project)).ok).toBe(true);
    expect(readdirSync(path.join(project, suites))).toEqual(['1']);
    expect(readdirSync(path.join(project, suites, '1'))).toEqual(['server.log']);
  });

  it.each([
    ['was deleted', (dir: string) => rmSync(path.join(dir, '.self-heal'), { recursive: true })],
    ['was cleaned by git', (dir: string) => void execaSync('git', ['clean', '-fdxq'], { cwd: dir })],
    ['is beside a stale git lock', (dir: string) => writeFileSync(path.join(dir, '.git/index.lock'), '')],
    [
      'has a damaged running.json',
      (dir: string) => writeInto(dir, { '.self-heal/runs/20260101-000000-abcd/running.json': '{' }),
    ],
  ])('HN-2 that %s does not block later commands', async (_, harm) => {
    const at = await killed();
    harm(at.dir);
    const recovered = await recoverKilledRuns(at.project);
    expect(recovered.ok).toBe(true);
    expect(await nextCommand(at.project)).toBe('');
  });
});

describe('a package of a repository', () => {
  it.each([
    [
      'got a repository of its own',
      (project: string) => void execaSync('git', ['init', '-q'], { cwd: project }),
    ],
    [
      'lost the repository above',
      (project: string) => rmSync(path.join(project, '../../.git'), { recursive: true }),
    ],
  ])('HN-2 whose run was killed is left alone, with a message, if it %s since', async (_, change) => {
    const at = await killed('packages/app');
    change(at.project);
    const found = inventoryOf(at.dir);
    expect(await nextCommand(at.project)).toMatch(/no longer the same folder.*\n.*Nothing was changed/);
    expect(inventoryOf(at.dir)).toEqual(found);
    expect(await nextCommand(at.project)).toBe('');
  });
});
