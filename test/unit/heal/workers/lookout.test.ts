import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../../src/clock.js';
import type { Opened } from '../../../../src/heal/open-run.js';
import type { DispatchParts } from '../../../../src/heal/workers/dispatch.js';
import { Lookout } from '../../../../src/heal/workers/lookout.js';
import type { SentCause } from '../../../../src/heal/workers/workers.js';
import type { JobState } from '../../../../src/queue/open-queue.js';
import { pack } from '../../../../src/queue/packed.js';
import { createPatience, longestAwayMs } from '../../../../src/queue/patient.js';
import type { WorkerRow } from '../../../../src/queue/worker-table.js';
import { aCause, aSuiteRun, aWorker, someSettings } from '../../../rig/builders.js';
import { healingSession } from '../../../rig/healing-session.js';
import { recordingBus } from '../../../rig/recording-bus.js';

/** A lease longer than a busy machine stalls, for tests in which no worker may lose its cause. */
const settings = someSettings({ queue: { leaseMs: 500 } });

const patient = { timeout: 10_000 };

const atWork = aWorker({ state: 'agent', causeId: 'c1', jobId: 'job' });

/** A coordinator's lookout over one job and one worker, both under the control of a test. */
async function looking(
  job: JobState['state'],
  worker: WorkerRow | null = atWork,
  forMs: number = longestAwayMs,
) {
  const now = { state: { state: job, output: null } as JobState, worker, isAway: false, coordinates: true };
  const done: string[] = [];
  let failed = 0;
  const asked = async <T>(value: () => T): Promise<T> => {
    if (now.isAway) failed += 1;
    if (now.isAway) throw Object.assign(new Error('no server'), { code: 'ECONNREFUSED' });
    return value();
  };
  const { bus, events } = recordingBus();
  const parts = {
    opened: { settings, bus } as unknown as Opened,
    first: aSuiteRun(),
    here: {
      project: 'shop',
      place: '',
      commit: 'c0ffee',
      selection: [],
      version: '1',
      settings,
      queue: 'causes-1',
      root: '/',
      isDirty: false,
    },
    who: 'here',
    patience: createPatience({
      clock: systemClock,
      signal: new AbortController().signal,
      forMs,
      onAway: (message) => void events.push({ type: 'run.warning', message }),
      onBack: () => void events.push({ type: 'run.warning', message: 'back' }),
    }),
    queue: {
      name: 'causes-1',
      look: () => asked(() => now.state),
      giveBack: async (id: string) => void done.push(`give back ${id}`),
      cancel: async (id: string) => void done.push(`cancel ${id}`),
    },
    table: {
      coordinatorBeat: () => asked(() => now.coordinates),
      workers: () => asked(() => (now.worker ? [now.worker] : [])),
      remove: async ({ id }: { id: string }) => {
        done.push(`remove ${id}`);
        now.worker = null;
        return true;
      },
      spent: () => asked(() => ({ agentRuns: 0, costUsd: null })),
    },
  };
  const lookout = new Lookout(parts as unknown as DispatchParts);
  onTestFinished(() => lookout.close());
  const controller = new AbortController();
  const { session, clock } = await healingSession([], { signal: controller.signal });
  const sent: SentCause = {
    cause: aCause(),
    previous: [],
    known: { tries: { count: 0, failedFixes: 0 }, tried: [], fix: null, guidance: null, open: null },
    mayGoOn: () => true,
  };
  const result = lookout.resultOf('job', { session, sent });
  const warned = () => events.flatMap((one) => (one.type === 'run.warning' ? [one.message] : []));
  return { now, done, result, clock, controller, warned, failedLooks: () => failed };
}

it('SC-2 returns the result that a worker sends; an unreadable one and a refusal fail the cause with the reason', async () => {
  const result = (output: unknown) => ({ state: 'done', output }) as const;
  const end = { verdict: 'failed', reason: 'three tries' };
  const tried = { kind: 'tried', worker: 'w', attempts: [], attemptId: null, edits: null, end };
  const one = await looking('taken');
  one.now.state = result(pack(tried));
  expect(await one.result).toEqual(tried);
  const other = await looking('taken');
  other.now.state = result(pack({ kind: 'refused', worker: 'host-1', reason: 'it is green there' }));
  expect(await other.result).toMatchObject({
    end: { verdict: 'failed', reason: expect.stringMatching(/host-1.*green there/) as string },
  });
  const rubbish = await looking('taken');
  rubbish.now.state = result({ packed: 'rubbish' });
  expect(await rubbish.result).toMatchObject({ end: { verdict: 'failed' } });
});

it('SC-2 fails a cause of which every worker was lost', async () => {
  const { result } = await looking('given-up');
  expect(await result).toMatchObject({ kind: 'ended', end: { verdict: 'failed' } });
});

it('SC-2 HN-9 cancels a cause that no worker takes within limits.time', async () => {
  const { result, clock, done } = await looking('waiting', null);
  clock.advance(settings.limits.timeMs);
  expect(await result).toMatchObject({ end: { verdict: 'budget' } });
  await vi.waitFor(() => expect(done).toEqual(['cancel job']), patient);
});

it('SC-2 cancels the cause on an interrupt, and removes the row of its worker', async () => {
  const { result, controller, done } = await looking('taken');
  controller.abort();
  expect(await result).toMatchObject({ end: { verdict: 'interrupted' } });
  await vi.waitFor(() => expect(done).toEqual(['cancel job', 'remove w1']), patient);
});

it('SC-2 takes the cause from a worker that sent no heartbeat for a lease', async () => {
  const { done, warned } = await looking('taken');
  await vi.waitFor(() => expect(done).toEqual(['remove w1', 'give back job']), patient);
  expect(warned().join()).toContain('host-1');
});

it('SC-2 warns once while the server is away, and starts leases anew when it is back', async () => {
  const { now, done, warned, failedLooks } = await looking('taken');
  now.isAway = true;
  // Each look is a fifth of a lease after the one before, so together they take longer than a lease.
  await vi.waitFor(() => expect(failedLooks()).toBeGreaterThan(6), patient);
  expect(warned()).toHaveLength(1);
  expect(warned()[0]).toContain('no server');
  now.isAway = false;
  // The second warning comes after the first look, which would have found the worker dead.
  await vi.waitFor(() => expect(warned()).toHaveLength(2), patient);
  expect(done).toEqual([]);
});

it('SC-2 fails the cause if the server stays away, and says what to do', async () => {
  const { now, result } = await looking('taken', atWork, 100);
  now.isAway = true;
  expect(await result).toMatchObject({
    end: {
      verdict: 'failed',
      reason: expect.stringMatching(/no server.*run the same command again/) as string,
    },
  });
});

it('SC-2 stops waiting if another coordinator has taken over, and leaves the cause to it', async () => {
  const { now, result, done, warned } = await looking('taken');
  now.coordinates = false;
  expect(await result).toMatchObject({
    end: { verdict: 'failed', reason: expect.stringContaining('another machine') as string },
  });
  expect(warned()).toHaveLength(1);
  expect(done).toEqual([]);
});
