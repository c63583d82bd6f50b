import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { postgresPrograms, startPostgres, type Postgres } from '../rig/postgres.js';
import { agentsYaml, type ScratchProject, shopFiles } from '../rig/scratch-project.js';
import { download, repositoryOf } from '../rig/shards.js';
import { tempDir } from '../rig/temp-dir.js';
import { isAlive } from '../rig/working-agent.js';

const programs = postgresPrograms();
if (!programs) process.stderr.write('PostgreSQL is not installed: workers are not tested\n');

/** A test that looks for one word of the page, so that each word is a cause of its own. */
const wants = (word: string) => `
  import { test, expect } from '@playwright/test';
  import { readFileSync } from 'node:fs';
  test('sells ${word}', () => {
    expect(readFileSync('page.html', 'utf8').includes('good ${word}'), 'the page sells ${word}').toBe(true);
  });`;

/** Cheese and pears are on one line: whichever patch is joined second is made again, on a tree with the first fix. */
const page = 'bad bread\n\n\n\n\nbad cheese, bad pears\n';
const words = ['bread', 'cheese', 'pears'];

/** Fixes its word; the first agent for bread hangs. Each start leaves a file named after the word and the process. */
const agent = (starts: string) => `
  import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
  const word = /^Test:.*sells (\\w+)/m.exec(readFileSync(0, 'utf8'))[1];
  const starts = ${JSON.stringify(starts)};
  const isFirst = !readdirSync(starts).some((one) => one.startsWith(word));
  writeFileSync(starts + '/' + word + '-' + process.pid, '');
  if (word === 'bread' && isFirst) setInterval(() => {}, 1000);
  else writeFileSync('page.html', readFileSync('page.html', 'utf8').replace('bad ' + word, 'good ' + word));`;

/** Fixes its word at once. */
const quick = (starts: string) => agent(starts).replace("word === 'bread' && isFirst", 'false');

/** Ends four seconds after it was asked to. It says so late enough that a second signal does not count as the first one sent twice. */
const slowToEnd = (starts: string) => `
  import { writeFileSync } from 'node:fs';
  const leave = (word) => writeFileSync(${JSON.stringify(starts)} + '/' + word + '-' + process.pid, '');
  process.on('SIGTERM', () => {
    setTimeout(() => leave('asked'), 1500);
    setTimeout(() => process.exit(leave('finished')), 4000);
  });
  leave('started');
  setInterval(() => {}, 1000);`;

describe.skipIf(!programs)('workers', () => {
  let postgres: Postgres;
  let databases = 0;
  beforeAll(async () => {
    postgres = await startPostgres(programs ?? '');
  });
  afterAll(() => postgres.stop());

  /** A repository with three causes, the artifacts that a shard collected, and a database. */
  async function market(program = agent) {
    const starts = tempDir('starts');
    const { 'tests/shop.spec.ts': _, ...files } = shopFiles;
    const { machine, git } = await repositoryOf({
      ...files,
      '.gitignore': `${shopFiles['.gitignore']}.self-heal\n`,
      'page.html': page,
      'agent.mjs': program(starts),
      'agents.yaml': agentsYaml(['node', 'agent.mjs'], 'queue: { lease: 2s }\nblame: { enabled: false }'),
      ...Object.fromEntries(words.map((word) => [`tests/${word}.spec.ts`, wants(word)])),
    });
    const shard = await machine('shard');
    await shard.selfHeal(['run', '--collect']);
    const artifacts = tempDir('artifacts');
    await mkdir(artifacts, { recursive: true });
    await download(shard, path.join(artifacts, 'shard-1'));
    const SELF_HEAL_STORE = await postgres.newDatabase(`workers_${++databases}`);
    return { machine, git, artifacts, starts: () => readdirSync(starts), env: { SELF_HEAL_STORE } };
  }

  const statusOf = async (git: Awaited<ReturnType<typeof market>>['git'], { dir }: ScratchProject) =>
    (await git(dir, 'status', '--porcelain')).stdout;

  const eventsOf = ({ dir }: ScratchProject) =>
    readFileSync(path.join(dir, '.self-heal', 'latest', 'events.ndjson'), 'utf8');

  it('SC-2 one agent at a time heals a cause across machines; nothing is lost or counted twice when a worker and the coordinator are killed', async () => {
    const { machine, git, artifacts, starts, env } = await market();
    const start = (project: ScratchProject, args: string[]) => {
      const running = project.start(args, env);
      onTestFinished(() => void running.kill('SIGKILL'));
      return running;
    };
    const [heal, one, two, other] = [
      await machine('heal'),
      await machine('one'),
      await machine('two'),
      await machine('other'),
    ];
    await git(other.dir, 'commit', '--allow-empty', '-qm', 'two');
    void start(other, ['worker']);

    // The first worker is killed while its agent works.
    const dies = start(one, ['worker']);
    const coordinator = start(heal, ['heal', '--from', artifacts, '--queue', '--verify', 'quick']);
    await vi.waitFor(() => expect(starts()).toHaveLength(1), { timeout: 120_000, interval: 50 });
    const killed = Number(starts()[0]?.split('-')[1]);
    dies.kill('SIGKILL');
    await once(dies, 'exit');

    // The second worker heals the other causes; the coordinator is killed once it has the first of their patches.
    const lives = start(two, ['worker']);
    await vi.waitFor(() => expect(eventsOf(heal)).toContain('"type":"attempt.green"'), {
      timeout: 240_000,
      interval: 50,
    });
    expect(eventsOf(heal)).toMatch(/"elsewhere":"is at commit/);
    coordinator.kill('SIGKILL');
    await once(coordinator, 'exit');

    const { exitCode, report, stderr } = await heal.selfHeal(['resume'], env);
    expect(
      report?.causes.map(({ verdict }) => verdict),
      stderr,
    ).toEqual(['healed', 'healed', 'healed']);
    expect(exitCode).toBe(0);
    expect(await heal.read('page.html')).toBe(page.replaceAll('bad', 'good'));
    // One start per cause, one for the worker that was killed, and one for the patch that conflicted.
    expect(
      starts()
        .map((name) => name.split('-')[0])
        .toSorted(),
    ).toEqual(['bread', 'bread', 'cheese', 'pears', 'pears']);
    expect(report?.totals.agentRuns).toBe(5);

    // The killed worker left neither a process nor a change, and the other one ends when asked to.
    await vi.waitFor(() => expect(isAlive(killed)).toBe(false), { timeout: 20_000 });
    lives.kill('SIGTERM');
    expect((await lives).exitCode).toBe(143);
    expect(await statusOf(git, two)).toBe('');
    expect(await statusOf(git, one)).toBe('');
  });

  it('SC-2 AG-10 a second SIGINT ends a worker’s agent that does not end when it is asked to, and the checkout is as it was', async () => {
    const { machine, git, artifacts, starts, env } = await market(slowToEnd);
    const [heal, worker] = [await machine('heal'), await machine('worker')];
    const coordinator = heal.start(['heal', '--from', artifacts, '--queue'], env);
    const works = worker.start(['worker'], env);
    onTestFinished(() => void [coordinator, works].map((one) => one.kill('SIGKILL')));
    await vi.waitFor(() => expect(starts()).toHaveLength(1), { timeout: 120_000, interval: 50 });
    const agent = Number(starts()[0]?.split('-')[1]);
    works.kill('SIGINT');
    await vi.waitFor(() => expect(starts()).toContain(`asked-${agent}`), { timeout: 20_000, interval: 50 });
    works.kill('SIGINT');
    const { exitCode, stderr } = await works;
    expect(exitCode, stderr).toBe(130);
    expect(isAlive(agent)).toBe(false);
    expect(starts()).not.toContain(`finished-${agent}`);
    expect(stderr).toContain('the cause is left to another worker');
    expect(await statusOf(git, worker)).toBe('');
  });

  it('SC-2 a coordinator exits if its run fails while workers heal its causes', async () => {
    const { machine, artifacts, starts, env } = await market(quick);
    const [heal, worker] = [await machine('heal'), await machine('worker')];
    const coordinator = heal.start(['heal', '--from', artifacts, '--queue'], env);
    const works = worker.start(['worker'], env);
    onTestFinished(() => void [coordinator, works].map((one) => one.kill('SIGKILL')));
    await vi.waitFor(() => expect(starts()).toHaveLength(1), { timeout: 120_000, interval: 50 });
    await rm(path.join(heal.dir, '.self-heal'), { recursive: true });
    await heal.write({ '.self-heal': 'not a folder' });
    const { exitCode, stderr } = await coordinator;
    expect(exitCode, stderr).toBe(70);
    expect(stderr).toContain('ENOTDIR');
    works.kill('SIGTERM');
    await works;
  });

  it('SC-2 a worker without a PostgreSQL store, whose store refuses it, or with uncommitted changes says so and exits with 2', async () => {
    const { machine, env } = await market();
    const worker = await machine('worker');
    const file = await worker.selfHeal(['worker']);
    expect(file.exitCode).toBe(2);
    expect(file.stderr).toContain('--store postgres://');
    const idle = await worker.selfHeal(['worker', '--idle-timeout', '1ms'], env);
    expect(idle.exitCode).toBe(0);
    await postgres.run(env.SELF_HEAL_STORE, 'drop table workers cascade');
    const refused = await worker.selfHeal(['worker'], env);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain('workers');
    await worker.write({ 'page.html': 'mine' });
    const dirty = await worker.selfHeal(['worker', '--once'], env);
    expect(dirty.exitCode).toBe(2);
    expect(dirty.stderr).toContain('git status');
    const away = await worker.selfHeal(['worker'], {
      SELF_HEAL_STORE: 'postgres://ann:hunter2@127.0.0.1:1/none',
    });
    expect(away.exitCode).toBe(2);
    expect(away.stderr).not.toContain('hunter2');
  });
});
