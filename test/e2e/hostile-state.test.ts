import { existsSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { execaSync } from 'execa';
import Libsql from 'libsql';
import { describe, expect, it } from 'vitest';
import { createStore } from '../../src/store/create-store.js';
import { openStore } from '../../src/store/open-store.js';
import { listInventory } from '../rig/agent-workspace.js';
import { plantHostileRun, commitAll, plantDeletingJournal, hostileRunId } from '../rig/hostile-state.js';
import { agentsYaml, scratchProject, type ScratchProject, shopFiles } from '../rig/scratch-project.js';
import { isLong, quickOrLong } from '../rig/long.js';
import { tempDir } from '../rig/temp-dir.js';

const red = { ...shopFiles, 'page.html': '<p>nothing to buy</p>', 'agents.yaml': agentsYaml(['node', '']) };

/** A folder of the user with a project two levels below, and what else is in it. */
async function cloned(files: Record<string, string> = red) {
  const home = tempDir('home');
  const project = await scratchProject(files, path.join(home, 'work/clone'));
  writeFileSync(path.join(home, 'precious'), 'precious\n');
  mkdirSync(path.join(home, 'folder'));
  const outside = () =>
    Object.fromEntries(Object.entries(listInventory(home)).filter(([name]) => !name.startsWith('work')));
  return { home, project, outside };
}

/** Stores that a person accepts a failure, as `escalations resolve` does. */
async function quarantine(project: ScratchProject, place: string): Promise<void> {
  const opened = await openStore(path.join(project.dir, place), '/');
  if (!opened.ok) throw new Error(opened.error.message);
  const store = createStore(opened.value, 'scratch', () => Date.now());
  const about = { signature: 'scratch:Error:00000001', category: 'ui-error', retry: 'code_error' } as const;
  const question = { problem: '', tried: [], recommendation: '', choices: ['skip'], offers: [] } as const;
  const asked = await store.escalate(
    { ...about, ...question, tests: [{ id: 't1', name: 'buys' }] },
    hostileRunId,
  );
  await store.answerEscalation(asked!.id, { choice: 'skip', guidance: null, days: 365 });
  await store.close();
}

describe('a .self-heal that came with the project', () => {
  it('HN-10 is refused by every command if git tracks anything in it, and nothing is written', async () => {
    const { home, project } = await cloned();
    plantHostileRun(project.dir, 'planted.txt');
    commitAll(project.dir);
    const before = listInventory(home);
    const commands = ['run', 'heal --from x', 'undo', 'blame', 'inspect', 'report', 'escalations', 'ui'];
    for (const command of commands.slice(0, quickOrLong(4, commands.length))) {
      const { exitCode, stderr } = await project.start(command.split(' '));
      expect(stderr, command).toMatch(
        /git tracks \.self-heal\/\S+ and 2 more.*\n.*git rm -r --cached \.self-heal/,
      );
      expect(exitCode, command).toBe(2);
    }
    expect(listInventory(home)).toEqual(before);
  });

  it.each([
    ['in it', '.self-heal/ledger.db', red],
    [
      'anywhere else that git tracks',
      'kept/ledger.db',
      { ...red, 'agents.yaml': `${red['agents.yaml']}\nstore: kept/ledger.db\n` },
    ],
  ])('HN-10 accepts no red test because of a store %s', async (_, place, files) => {
    const { project } = await cloned(files);
    await quarantine(project, place);
    // As long as it is the user's own, it counts.
    expect(await project.selfHeal(['escalations', 'quarantine', '--json'])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('buys') as unknown,
    });
    commitAll(project.dir, [path.dirname(place)]);
    const { exitCode, stderr } = await project.start(['run']);
    expect(stderr).toMatch(/git rm (?:-r )?--cached /);
    expect(exitCode).toBe(2);
  });

  it.each([
    ['../../.bashrc', undefined],
    ['.bashrc', '../..'],
    ['/tmp/self-heal-planted', undefined],
    ['.git/hooks/post-checkout', undefined],
  ])('HN-10 undo writes nothing to %s (with the root %s)', async (file, root) => {
    const { home, project } = await cloned();
    plantHostileRun(project.dir, file, { root });
    const before = listInventory(home);
    expect(await project.start(['undo'])).toMatchObject({ exitCode: 2 });
    expect(listInventory(home)).toEqual(before);
  });

  it('HN-10 undo changes nothing through a link in the project', async () => {
    const { home, project, outside } = await cloned();
    symlinkSync('../..', path.join(project.dir, 'up'));
    writeFileSync(path.join(home, '.x.self-heal'), 'precious\n');
    mkdirSync(path.join(home, 'folder/empty'));
    const before = outside();
    plantHostileRun(project.dir, 'up/x', { folders: ['up/folder/empty'] });
    expect(await project.start(['undo'])).toMatchObject({ exitCode: 1 });
    expect(outside()).toEqual(before);
  });

  it('HN-10 undo creates no link that leads out of the project', async () => {
    const { project } = await cloned();
    plantHostileRun(project.dir, 'out', { kind: 'link', content: '../..' });
    expect(await project.start(['undo'])).toMatchObject({ exitCode: 1 });
    expect(existsSync(path.join(project.dir, 'out'))).toBe(false);
  });

  it('HN-10 undo stays in the project even if its repository names another folder as its root', async () => {
    const { home, project, outside } = await cloned();
    execaSync('git', ['init', '--quiet'], { cwd: project.dir });
    execaSync('git', ['config', 'core.worktree', path.join(home, 'folder')], { cwd: project.dir });
    const before = outside();
    plantHostileRun(project.dir, 'planted.txt');
    expect(await project.start(['undo'])).toMatchObject({ exitCode: 0 });
    expect(outside()).toEqual(before);
    expect(await project.read('planted.txt')).toBe('planted\n');
  });

  it.each(['ledger.db', 'lock'])('HN-10 a journal beside %s deletes no other file', async (name) => {
    const { home, project, outside } = await cloned();
    const file = path.join(project.dir, '.self-heal', name);
    mkdirSync(path.dirname(file));
    const database = new Libsql(file);
    database.exec('create table store_version (version integer not null)');
    database.close();
    plantDeletingJournal(file, path.join(home, 'precious'));
    const before = outside();
    const { exitCode, stderr } = await project.start([name === 'lock' ? 'run' : 'escalations']);
    expect(outside()).toEqual(before);
    expect(stderr).toContain('is not a self-heal journal');
    expect(exitCode).toBe(2);
  });

  it('HN-10 undo works for files inside the project', async () => {
    const { project } = await cloned();
    plantHostileRun(project.dir, 'planted.txt');
    expect(await project.start(['undo'])).toMatchObject({ exitCode: 0 });
    expect(await project.read('planted.txt')).toBe('planted\n');
  });
});

describe('a link', () => {
  const run = `.self-heal/runs/${hostileRunId}`;
  const links = [
    ['.self-heal', 'folder', ['run', 'undo']],
    ['.self-heal/runs', 'folder', ['report']],
    ['.self-heal/changes', 'folder', ['run']],
    ['.self-heal/lock', 'precious', ['undo']],
    ['.self-heal/lock-journal', 'precious', ['run']],
    ['.self-heal/.gitignore', 'precious', ['run']],
    ['.self-heal/journal.json', 'precious', ['undo']],
    ['.self-heal/ledger.db', 'precious', ['run']],
    ['.self-heal/ledger.db', 'nothing', ['escalations']],
    ['.self-heal/ledger.db-wal', 'precious', ['escalations']],
    [run, 'folder', ['undo', 'inspect']],
    [`${run}/running.json`, 'precious', ['run']],
    [`${run}/suites`, 'folder', ['run']],
    [`${run}/events.ndjson`, 'precious', ['report', 'undo']],
    [`${run}/report.html`, 'precious', ['report']],
    [`${run}/failures`, 'folder', ['inspect']],
    [`.self-heal/changes/${hostileRunId}`, 'folder', ['undo']],
  ] as const;
  it.each(links.filter((_, n) => isLong || n % 2 === 0))(
    'HN-10 in place of %s is not followed to %s by %j',
    async (place, target, commands) => {
      const { home, project, outside } = await cloned();
      writeFileSync(path.join(home, 'folder/report.ndjson'), 'precious\n');
      mkdirSync(path.join(home, 'folder/1/output'), { recursive: true });
      writeFileSync(path.join(home, 'folder/1/report.ndjson'), 'precious\n');
      if (place.includes(hostileRunId)) plantHostileRun(project.dir, 'planted.txt');
      if (place.endsWith('events.ndjson')) await project.write({ [`${run}/report.json`]: '{}' });
      if (place.endsWith('suites')) await project.write({ [`${run}/running.json`]: '{' });
      if (place.endsWith('-wal')) await quarantine(project, '.self-heal/ledger.db');
      const link = path.join(project.dir, place);
      await project.write({ [`${path.dirname(place)}/other`]: '' });
      rmSync(link, { recursive: true, force: true });
      symlinkSync(path.join(home, target), link);
      const before = outside();
      for (const command of commands) {
        const { exitCode, stderr } = await project.start([command]);
        expect(stderr, command).toContain(`${link} is a link`);
        expect(exitCode, command).toBe(2);
        expect(outside()).toEqual(before);
      }
    },
  );

  it('HN-10 in place of .self-heal/latest is replaced, and only the run that it names counts', async () => {
    const { home, project, outside } = await cloned({ ...shopFiles });
    mkdirSync(path.join(project.dir, '.self-heal'));
    symlinkSync(path.join(home, 'folder'), path.join(project.dir, '.self-heal/latest'));
    const before = outside();
    expect(await project.selfHeal(['run'])).toMatchObject({ exitCode: 0, report: { outcome: 'green' } });
    expect(outside()).toEqual(before);
  });
});

it('HN-10 a file named .self-heal is refused with a plain message', async () => {
  const { project } = await cloned();
  await project.write({ '.self-heal': 'a file' });
  for (const command of ['run', 'report', 'doctor']) {
    const { exitCode, stdout, stderr } = await project.start([command]);
    expect(stdout + stderr, command).toContain('.self-heal is not a folder');
    expect(exitCode, command).toBe(2);
  }
});

it('HN-10 CF-5 a command that only reads creates no store in an empty file that agents.yaml names', async () => {
  const { home, project, outside } = await cloned({
    ...red,
    'agents.yaml': 'version: 1\nstore: ../../empty\n',
  });
  writeFileSync(path.join(home, 'empty'), '');
  const before = outside();
  expect(await project.start(['escalations'])).toMatchObject({ exitCode: 0 });
  expect(outside()).toEqual(before);
});

it('HN-10 deeply nested or oversized events do not crash a command', async () => {
  const { project } = await cloned();
  plantHostileRun(project.dir, 'planted.txt');
  const file = `.self-heal/runs/${hostileRunId}/events.ndjson`;
  const deep = `"deep":${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const events = await project.read(file);
  await project.write({ [file]: events.replaceAll('"kind":"green"', `"kind":"green",${deep}`) });
  for (const command of ['report', 'inspect', 'undo'])
    expect(await project.start(command.split(' ')), command).toMatchObject({ exitCode: 0 });
  // Without taking the space.
  truncateSync(path.join(project.dir, file), 5 * 1024 ** 3);
  for (const command of ['report', 'inspect', 'undo'])
    expect(await project.start([command]), command).toMatchObject({ exitCode: 2 });
});
