import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.js';
import type { Opened } from '../../src/heal/open-run.js';
import type { HealedHere } from '../../src/heal/workers/healed-here.js';
import { openWorkers } from '../../src/heal/workers/open-workers.js';
import { openRunStore } from '../../src/heal/open-run-store.js';
import { openQueue } from '../../src/queue/open-queue.js';
import { pack, unpack } from '../../src/queue/packed.js';
import { jobId } from '../../src/queue/queue-name.js';
import { createWatch } from '../../src/queue/queue-watch.js';
import { createPatience, isAway, patient } from '../../src/queue/patient.js';
import { workerTable } from '../../src/queue/worker-table.js';
import { redactorOf } from '../../src/secrets/redactor.js';
import { createStore } from '../../src/store/create-store.js';
import { openStore } from '../../src/store/open-store.js';
import { recordingBus } from '../rig/recording-bus.js';
import { z } from 'zod';
import { anAttempt, aSuiteRun, aWorker, someSettings } from '../rig/builders.js';
import { breakingProxy } from '../rig/breaking-proxy.js';
import { postgresPrograms, startPostgres, type Postgres } from '../rig/postgres.js';
import { virtualClock } from '../rig/virtual-clock.js';

const programs = postgresPrograms();
if (!programs) process.stderr.write('PostgreSQL is not installed: the queue is not tested\n');

describe.skipIf(!programs)('queue', () => {
  let postgres: Postgres;
  let databases = 0;
  beforeAll(async () => {
    postgres = await startPostgres(programs ?? '');
  });
  afterAll(() => postgres.stop());

  async function machine(url: string) {
    const opened = await openStore(url, '/');
    if (!opened.ok) throw new Error(opened.error.message);
    const db = opened.value;
    onTestFinished(() => db.destroy());
    const queue = await openQueue(db, 'causes-1');
    onTestFinished(() => queue.close());
    return { queue, table: workerTable(db, 'shop', 'causes-1') };
  }

  /** Machines that start at the same time with one new database, each with its own connections. */
  async function machines() {
    const url = await postgres.newDatabase(`queue_${++databases}`);
    return Promise.all([machine(url), machine(url), machine(url), machine(url)]);
  }

  const anAgent = (worker: string | null = null) => ({ id: randomUUID(), worker });

  const message = (of: unknown) => pack(of) ?? { packed: '' };

  it('SC-2 a cause sent by several machines is queued once, and taken by one', async () => {
    const all = await machines();
    const ids = Array.from({ length: 10 }, (_, n) => jobId('causes-1', `cause ${n}`));
    await Promise.all(
      all.slice(0, 2).flatMap(({ queue }) => ids.map((id) => queue.send(id, message({ id })))),
    );
    const taken: string[] = [];
    await Promise.all(
      all.map(async ({ queue }) => {
        for (let job = await queue.take(); job; job = await queue.take()) taken.push(job.id);
      }),
    );
    expect(taken.toSorted()).toEqual(ids.toSorted());
  });

  it('SC-2 the result of a worker is kept for a coordinator that starts again, until it is removed', async () => {
    const [first, second] = await machines();
    const id = jobId('causes-1', 'cause');
    await first.queue.send(id, message({ n: 1 }));
    const job = await second.queue.take();
    expect(unpack(job?.data, z.object({ n: z.number() }))).toEqual({ n: 1 });
    await second.queue.done(id, message({ healed: true }));
    await first.queue.send(id, message({ n: 2 }));
    expect(await second.queue.take()).toBeNull();
    const { state, output } = await first.queue.look(id);
    expect(state).toBe('done');
    expect(unpack(output, z.object({ healed: z.boolean() }))).toEqual({ healed: true });
    await first.queue.remove([id]);
    expect((await first.queue.look(id)).state).toBe('gone');
    await first.queue.send(id, message({ n: 3 }));
    expect((await second.queue.take())?.id).toBe(id);
  });

  it('SC-2 a worker without a heartbeat loses its cause after the lease, whatever its clock says; a live one does not', async () => {
    const [coordinator, dead, living] = await machines();
    const [lostId, keptId] = [jobId('causes-1', 'lost'), jobId('causes-1', 'kept')];
    await coordinator.queue.send(lostId, message({}));
    await dead.queue.take();
    await coordinator.queue.send(keptId, message({}));
    await living.queue.take();
    const [one, other] = [aWorker({ jobId: lostId }), aWorker({ id: 'w2', name: 'host-2', jobId: keptId })];
    await dead.table.register(one);
    await living.table.register(other);
    const clock = virtualClock();
    const lost: (string | null)[] = [];
    const watch = createWatch({
      ...coordinator,
      clock,
      leaseMs: 1000,
      onWorkers: () => undefined,
      onLost: (id, worker) => lost.push(id, worker),
    });
    expect(await watch.workers()).toHaveLength(2);
    await clock.sleep(999);
    expect(await watch.workers()).toHaveLength(2);
    await living.table.beat({ ...other, beat: 1 });
    await clock.sleep(1);
    expect((await watch.workers()).map(({ name }) => name)).toEqual(['host-2']);
    expect(lost).toEqual([lostId, 'host-1']);
    // Another worker has the cause now, and the silent one learns that it has lost it.
    expect((await living.queue.take())?.id).toBe(lostId);
    expect(await dead.table.beat({ ...one, beat: 1 })).toBe(false);
    // A worker that died before it could record what it had taken.
    const alive = await watch.workers();
    await watch.taken(lostId, alive);
    await clock.sleep(1000);
    await watch.taken(lostId, alive);
    await watch.taken(keptId, alive);
    expect(lost).toEqual([lostId, 'host-1', lostId, null]);
    expect((await coordinator.queue.look(keptId)).state).toBe('taken');
  });

  it('SC-2 a cause whose workers all die is given up', async () => {
    const [one] = await machines();
    const id = jobId('causes-1', 'cause');
    await one.queue.send(id, message({}));
    let times = 0;
    for (; await one.queue.take(); times += 1) await one.queue.giveBack(id);
    expect(times).toBe(3);
    expect((await one.queue.look(id)).state).toBe('given-up');
    // Sending it again starts over.
    await one.queue.send(id, message({}));
    expect((await one.queue.take())?.id).toBe(id);
  });

  it('SC-2 a worker that is asked to end costs its cause no retry, however often; a lost one does', async () => {
    const [one, other] = await machines();
    const id = jobId('causes-1', 'cause');
    await one.queue.send(id, message({}));
    const take = async () => {
      const job = await one.queue.take();
      if (!job) throw new Error('nothing waits');
      return job;
    };
    for (let n = 0; n < 5; n += 1) await one.queue.release(await take());
    // Two of three are lost, with an interrupt between them.
    await take();
    await one.queue.giveBack(id);
    const late = await take();
    await one.queue.release(late);
    await take();
    // The release is repeated, because its answer was lost; by now another worker has the cause.
    await other.queue.release(late);
    expect((await one.queue.look(id)).state).toBe('taken');
    await one.queue.giveBack(id);
    await take();
    await one.queue.giveBack(id);
    expect((await one.queue.look(id)).state).toBe('given-up');
    // A canceled cause is not queued again either.
    const cancelled = jobId('causes-1', 'cancelled');
    await one.queue.send(cancelled, message({}));
    const job = await take();
    await other.queue.cancel(cancelled);
    await one.queue.release(job);
    expect((await one.queue.look(cancelled)).state).toBe('given-up');
  });

  it('SC-2 HN-9 limits hold for all workers together, even if all of them ask at the same time', async () => {
    const all = await machines();
    const [first] = all;
    await first.table.coordinate('here');
    const limits = { agentRuns: 3, costUsd: 10 };
    const asked = [...all, ...all].map(({ table }) => ({ table, agent: anAgent() }));
    const may = await Promise.all(asked.map(({ table, agent }) => table.claimAgent(agent, limits)));
    expect(may.filter(Boolean)).toHaveLength(3);
    // A running agent may cost as much as the most expensive one so far.
    const money = { agentRuns: 100, costUsd: 1 };
    await first.table.agentCost(asked[may.indexOf(true)]?.agent.id ?? '', 0.4);
    await first.table.register(aWorker());
    expect(await first.table.claimAgent(anAgent('w1'), money)).toBe(true);
    await first.table.register(aWorker({ id: 'w2' }));
    expect(await first.table.claimAgent(anAgent('w2'), money)).toBe(true);
    await first.table.register(aWorker({ id: 'w3' }));
    expect(await first.table.claimAgent(anAgent('w3'), money)).toBe(false);
    // An agent of a dead worker no longer runs, but it was counted.
    await first.table.remove({ id: 'w2' });
    expect(await first.table.claimAgent(anAgent('w3'), money)).toBe(true);
    expect(await all[3].table.spent()).toEqual({ agentRuns: 6, costUsd: 0.4 });
  });

  it('SC-2 HN-9 a write whose response is lost is repeated and counts once', async () => {
    const url = await postgres.newDatabase(`queue_${++databases}`);
    const proxy = await breakingProxy(url);
    onTestFinished(() => proxy.close());
    const opened = await openStore(proxy.url, '/');
    if (!opened.ok) throw new Error(opened.error.message);
    const db = opened.value;
    onTestFinished(() => db.destroy());
    let cuts = 0;
    const patience = createPatience({
      clock: virtualClock(),
      signal: new AbortController().signal,
      forMs: 60_000,
      onAway: () => void (cuts += 1),
      onBack: () => undefined,
    });
    const store = patient(
      createStore(db, 'shop', () => 0),
      patience,
    );
    const table = patient(workerTable(db, 'shop', 'causes-1'), patience);
    await table.coordinate('here');
    await table.register(aWorker());
    const limits = { agentRuns: 2, costUsd: 9 };
    const agent = anAgent('w1');
    const run = { runId: 'run1', causeId: 'c1', signature: 'shop:Error:1' };
    const heal = { ...run, category: 'ui-error', verdict: 'healed', reason: '', bySharedFix: true } as const;
    const shown = anAttempt({ judged: 'still-failing', usage: null });
    const writes: [string, () => Promise<unknown>][] = [
      ['commit', () => table.claimAgent(agent, limits)],
      ['heal_agents', () => table.agentRestarted('again')],
      ['heal_agents', () => table.agentCost(agent.id, 0.4)],
      ['insert into "runs"', () => store.runStarted({ runId: 'run1', request: {}, resumedFrom: null })],
      ['commit', () => store.attemptStarted({ id: 'a1', ...run, n: 1, agent: 'fixer' })],
      ['commit', () => store.attemptFinished('a1', shown)],
    ];
    for (const [text, write] of writes) {
      proxy.cutAfter(text);
      await write();
    }
    expect(cuts).toBe(writes.length);
    expect(await table.spent()).toMatchObject({ agentRuns: 2, costUsd: 0.4 });
    expect(await table.claimAgent(anAgent(), limits)).toBe(false);
    expect((await store.recordFailure(run.signature, 'run1')).tries.count).toBe(1);
    expect(await db.selectFrom('attempts').select('id').execute()).toEqual([{ id: 'a1' }]);
    proxy.cutAfter('commit');
    await store.causeEnded(heal);
    const healed = await db.selectFrom('signatures').select('healedTimes').execute();
    expect(healed).toEqual([{ healedTimes: 1 }]);
  });

  it('SC-2 does not mistake a server that is away or refuses for an empty queue', async () => {
    const url = await postgres.newDatabase(`queue_${++databases}`);
    const proxy = await breakingProxy(url);
    onTestFinished(() => proxy.close());
    const { queue } = await machine(proxy.url);
    expect(await queue.take()).toBeNull();
    proxy.away(true);
    expect(isAway(await queue.take().catch((error: unknown) => error))).toBe(true);
    proxy.away(false);
    await postgres.run(url, 'alter table self_heal_queue.job rename to gone');
    await expect(queue.take()).rejects.toThrow('does not exist');
  });

  it('SC-2 ME-9 what a coordinator stores while the server is away is stored once it is back, without a warning', async () => {
    const url = await postgres.newDatabase(`queue_${++databases}`);
    const proxy = await breakingProxy(url);
    onTestFinished(() => proxy.close());
    const { signal } = new AbortController();
    const [clock, reported] = [virtualClock(), [] as string[]];
    const sleep = async (ms: number) => {
      await clock.sleep(ms);
      if (clock.slept.length === 3) proxy.away(false);
    };
    const patience = createPatience({
      clock: { ...clock, sleep },
      signal,
      forMs: 60_000,
      onAway: () => reported.push('away'),
      onBack: () => reported.push('back'),
    });
    const opened = await openRunStore({
      settings: someSettings({ store: proxy.url }),
      cwd: '/',
      runId: 'run1',
      bus: { ...recordingBus().bus, emit: (event) => void reported.push(event.type) },
      redactor: redactorOf([]),
      patience,
    });
    if (!opened.ok) throw new Error(opened.error.message);
    const store = opened.value;
    proxy.away(true);
    await store.started({}, null);
    const start = { causeId: 'c1', signature: 'shop:Error:1', n: 1, agent: 'fixer' };
    await store.attemptFinished(await store.attemptStarted(start), anAttempt({ judged: 'still-failing' }));
    expect((await store.recordFailure(start.signature)).tries.count).toBe(1);
    await store.ended({ outcome: 'red', exitCode: 1, flaky: 0 });
    expect(reported).toEqual(['away', 'back']);
  });

  it('SC-2 a coordinator that its store refuses leaves nothing running', async () => {
    const url = await postgres.newDatabase(`queue_${++databases}`);
    await machine(url);
    await postgres.run(url, 'drop table heals cascade');
    const { signal } = new AbortController();
    const nothing = () => undefined;
    const clock = systemClock;
    const patience = createPatience({ clock, signal, forMs: 0, onAway: nothing, onBack: nothing });
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
    const before = timers();
    const opened = { settings: someSettings({ store: url }), cwd: '/', folder: { runId: 'r' }, signal };
    const queued = { here: { queue: 'causes-1' } as HealedHere, patience };
    expect(await openWorkers(opened as Opened, aSuiteRun(), queued)).toMatchObject({ ok: false });
    expect(timers()).toBe(before);
  });

  it('SC-2 one coordinator at a time sends the causes of a commit; one without a heartbeat is replaced', async () => {
    const [one, two] = await machines();
    expect(await one.table.coordinate('one')).toBeNull();
    await one.table.claimAgent(anAgent(), { agentRuns: 9, costUsd: 9 });
    const seen = await two.table.coordinate('two');
    expect(seen).toEqual({ who: 'one', beat: 0 });
    expect(await one.table.coordinatorBeat('one')).toBe(true);
    const alive = await two.table.coordinate('two', seen ?? undefined);
    expect(alive).toEqual({ who: 'one', beat: 1 });
    expect(await two.table.coordinate('two', alive ?? undefined)).toBeNull();
    expect(await one.table.coordinatorBeat('one')).toBe(false);
    // What was spent still counts.
    expect(await two.table.spent()).toEqual({ agentRuns: 1, costUsd: null });
    // Workers see whether a coordinator still sends causes.
    expect(await one.table.coordinator()).toMatchObject({ who: 'two' });
    await two.table.leave('two');
    expect(await one.table.coordinator()).toMatchObject({ who: '' });
    await two.table.over();
    expect(await one.table.coordinator()).toBeNull();
  });
});
