import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { findLatestRunId, listRunIds } from '../../src/run/find-run.js';
import { recoverKilledRuns } from '../../src/run/recover.js';
import { moveRunIntoProject, createRunFolder, getProjectRoot, findRunDir } from '../../src/run/run-folder.js';
import { stateFolder } from '../../src/state-folder.js';
import { makeWorkFolder, releaseWorkFolder } from '../../src/work-folder.js';
import { changesFolder, openContentStore } from '../../src/workspace/change.js';
import { type FileState, readFileState } from '../../src/workspace/file-state.js';
import { writeJournal } from '../../src/workspace/journal.js';
import { removeAfterTest, tempDir } from '../rig/temp-dir.js';

/** A folder on another file system than that for temporary files. */
const elsewhere = '/dev/shm';
const hasTwoDisks = existsSync(elsewhere) && statSync(elsewhere).dev !== statSync(tmpdir()).dev;

const runId = '20261121-071500-000a';

beforeEach(() => {
  vi.stubEnv('XDG_CACHE_HOME', tempDir('cache'));
  return () => vi.unstubAllEnvs();
});

/** A run that has written a file, and one beside it that holds what it changed. */
async function begun(project: string) {
  const folder = await createRunFolder(project, runId);
  if (!folder.ok) throw new Error(folder.error.message);
  const { dir, finalDir } = folder.value;
  await folder.value.makeFailureFolder(1);
  writeFileSync(path.join(dir, 'failures/1/page.html'), 'page');
  mkdirSync(path.join(changesFolder(dir), 'contents'), { recursive: true });
  writeFileSync(path.join(changesFolder(dir), 'contents/b'), 'new');
  return { dir, finalDir, top: getProjectRoot(dir) };
}

it('CL-3 HN-10 a run works in a private folder outside of the project until it is moved', async () => {
  const project = tempDir('project');
  const { dir, finalDir, top } = await begun(project);
  expect(statSync(top).mode & 0o777).toBe(0o700);
  expect(existsSync(finalDir)).toBe(false);
  expect([await listRunIds(project), await findLatestRunId(project)]).toEqual([[runId], runId]);
  expect(findRunDir(project, runId)).toBe(dir);
  mkdirSync(path.join(changesFolder(finalDir), 'contents'), { recursive: true });
  writeFileSync(path.join(changesFolder(finalDir), 'contents/a'), 'beside the journal');
  await Promise.all([moveRunIntoProject({ dir, finalDir }), moveRunIntoProject({ dir, finalDir })]);
  expect(findRunDir(project, runId)).toBe(finalDir);
  expect(readFileSync(path.join(project, '.self-heal/latest/failures/1/page.html'), 'utf8')).toBe('page');
  for (const name of ['a', 'b'])
    expect(existsSync(path.join(changesFolder(finalDir), 'contents', name))).toBe(true);
  expect(existsSync(top)).toBe(false);
});

it.runIf(hasTwoDisks)('CL-3 moves a run from one file system to another', async () => {
  const project = tempDir('project');
  const cache = mkdtempSync(path.join(elsewhere, 'self-heal '));
  removeAfterTest(cache);
  for (const name of ['XDG_CACHE_HOME', 'TMPDIR']) vi.stubEnv(name, cache);
  const { dir, finalDir, top } = await begun(project);
  expect(dir.startsWith(cache)).toBe(true);
  await moveRunIntoProject({ dir, finalDir });
  expect(readFileSync(path.join(finalDir, 'failures/1/page.html'), 'utf8')).toBe('page');
  expect(readFileSync(path.join(changesFolder(finalDir), 'contents/b'), 'utf8')).toBe('new');
  expect(existsSync(top)).toBe(false);
});

it.runIf(process.platform !== 'win32')(
  'HN-10 uses no work folder that others may write into, and reads no run from it',
  async () => {
    const project = tempDir('project');
    const { dir, top } = await begun(project);
    chmodSync(top, 0o755);
    expect(await listRunIds(project)).toEqual([]);
    const other = await createRunFolder(project, '20261121-071500-000b');
    expect(other.ok && getProjectRoot(other.value.dir)).not.toBe(getProjectRoot(dir));
  },
);

it('HN-2 the next command moves what a killed run left, and says so', async () => {
  const project = tempDir('project');
  const { dir, finalDir } = await begun(project);
  writeFileSync(
    path.join(dir, 'running.json'),
    '{ "schemaVersion": 1, "pid": 999999999, "startedAt": null }',
  );
  expect(await recoverKilledRuns(project)).toEqual({
    ok: true,
    value: [`moved the files of run ${runId} to .self-heal/runs/${runId}`],
  });
  expect(existsSync(path.join(finalDir, 'failures/1/page.html'))).toBe(true);
  expect(existsSync(path.join(finalDir, 'running.json'))).toBe(false);
});

it('CL-12 moving an older run leaves `latest` at the newest', async () => {
  const project = tempDir('project');
  const older = await begun(project);
  const newer = await createRunFolder(project, '20261121-071500-000b');
  if (!newer.ok) throw new Error(newer.error.message);
  await moveRunIntoProject(newer.value);
  await moveRunIntoProject(older);
  expect(await findLatestRunId(project)).toBe(newer.value.runId);
});

it('HN-1 keeps a real folder in the place of `latest`, such as one from an artifact', async () => {
  const project = tempDir('project');
  const unpacked = path.join(project, '.self-heal', 'latest');
  mkdirSync(unpacked, { recursive: true });
  writeFileSync(path.join(unpacked, 'report.json'), '{}');
  const { dir, finalDir } = await begun(project);
  await moveRunIntoProject({ dir, finalDir });
  expect(readFileSync(path.join(unpacked, 'report.json'), 'utf8')).toBe('{}');
  expect(await findLatestRunId(project)).toBe(runId);
});

it('HN-2 a journal still works without the work folder', async () => {
  const project = tempDir('project');
  const { dir, top } = await begun(project);
  const file = path.join(project, 'a.txt');
  const contents = openContentStore(dir);
  const states: FileState[] = [];
  for (const text of ['old', 'new']) {
    writeFileSync(file, text);
    await contents.put(Buffer.from(text));
    states.push(readFileState(project, 'a.txt') as FileState);
  }
  const files = [{ path: 'a.txt', known: states, goal: states[0] ?? null }];
  const journal = { runId, changes: ['1'], purpose: 'take-out', files, folders: [], install: false } as const;
  await writeJournal({ project, root: project }, journal, contents);
  rmSync(top, { recursive: true });
  expect(await recoverKilledRuns(project)).toMatchObject({ ok: true });
  expect(readFileSync(file, 'utf8')).toBe('old');
});

it('HN-2 another project’s run removes files that no command moved after a month', async () => {
  const { dir, top } = await begun(tempDir('project'));
  releaseWorkFolder(top);
  const since = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000);
  utimesSync(stateFolder(top, 'runs'), since(29), since(29));
  await begun(tempDir('another project'));
  expect(existsSync(dir)).toBe(true);
  utimesSync(stateFolder(top, 'runs'), since(31), since(31));
  await createRunFolder(tempDir('a third project'), runId);
  expect(existsSync(top)).toBe(false);
});

/** Lets another process hold the work folder of a run, as one in another container would. */
async function heldElsewhere(top: string): Promise<void> {
  releaseWorkFolder(top);
  const script = `import Database from 'libsql';
    const database = new Database(process.argv[1]);
    database.exec('BEGIN EXCLUSIVE');
    console.log('held');
    process.stdin.resume();`;
  const args = ['--input-type=module', '-e', script, path.join(top, 'lock')];
  const holder = spawn(process.execPath, args, {
    cwd: import.meta.dirname,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void holder.stdin.end());
  await once(holder.stdout, 'data');
}

it('HN-2 the run of another project at the same path is neither moved nor removed', async () => {
  const project = tempDir('project');
  const { dir } = await begun(project);
  // What a container at the same path has.
  rmSync(stateFolder(project), { recursive: true });
  expect(await listRunIds(project)).toEqual([]);
  expect(await recoverKilledRuns(project)).toEqual({ ok: true, value: [] });
  const next = await createRunFolder(project, '20261121-071500-000b');
  expect(next.ok && getProjectRoot(next.value.dir)).not.toBe(getProjectRoot(dir));
  expect(existsSync(dir)).toBe(true);
});

it('HN-2 a copied project with the same token leaves the run of a live process alone', async () => {
  const project = tempDir('project');
  const { dir, finalDir, top } = await begun(project);
  await heldElsewhere(top);
  expect(await recoverKilledRuns(project)).toEqual({ ok: true, value: [] });
  const next = await createRunFolder(project, '20261121-071500-000b');
  expect(next.ok && getProjectRoot(next.value.dir)).not.toBe(top);
  expect([existsSync(dir), existsSync(finalDir)]).toEqual([true, false]);
});

it('HN-2 the run of a live process is not removed, even if its date looks old', async () => {
  const { dir, top } = await begun(tempDir('project'));
  await heldElsewhere(top);
  utimesSync(stateFolder(top, 'runs'), 0, 0);
  await begun(tempDir('another project'));
  expect(existsSync(dir)).toBe(true);
});

it.each(['relative', 'in the project'])('CL-3 uses no cache folder that is %s', async (where) => {
  const project = tempDir('project');
  const cache = where === 'relative' ? 'cache-of-mine' : path.join(project, 'cache');
  vi.stubEnv('XDG_CACHE_HOME', cache);
  vi.stubEnv('HOME', tempDir('home'));
  const { dir } = await begun(project);
  expect(path.relative(project, dir)).toMatch(/^\.\./);
  expect(existsSync(path.resolve(cache))).toBe(false);
});

it('CL-3 a file in the place of the work folder is named with its remedy', async () => {
  const project = tempDir('project');
  const { top, dir, finalDir } = await begun(project);
  await moveRunIntoProject({ dir, finalDir });
  writeFileSync(top, 'a file');
  expect(await makeWorkFolder(project, [path.dirname(top)])).toMatchObject({
    ok: false,
    error: {
      message: expect.stringContaining(`${top} is not a folder`),
      remedy: expect.stringContaining('XDG_CACHE_HOME'),
    },
  });
});

it.runIf(hasTwoDisks)(
  'HN-2 a kill while a run is copied to another file system leaves no partial copy',
  async () => {
    const project = tempDir('project');
    const cache = mkdtempSync(path.join(elsewhere, 'self-heal '));
    removeAfterTest(cache);
    for (const name of ['XDG_CACHE_HOME', 'TMPDIR']) vi.stubEnv(name, cache);
    const { dir, finalDir } = await begun(project);
    mkdirSync(`${finalDir}.999999999.tmp/failures`, { recursive: true });
    await recoverKilledRuns(project);
    expect(existsSync(dir)).toBe(false);
    expect(readdirSync(path.dirname(finalDir))).toEqual([runId]);
  },
);
