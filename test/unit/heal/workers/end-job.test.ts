import { expect, it } from 'vitest';
import { endJob } from '../../../../src/heal/workers/work.js';
import type { Came } from '../../../../src/heal/workers/heal-job.js';
import type { Problem } from '../../../../src/problem.js';
import { jobResult } from '../../../../src/queue/messages.js';
import { type Packed, unpack } from '../../../../src/queue/packed.js';
import { err, ok, type Result } from '../../../../src/result.js';

const healed: Came = {
  kind: 'tried',
  attempts: [],
  attemptId: null,
  edits: null,
  end: { verdict: 'healed', reason: 'the test is green' },
};

const job = { id: 'job', data: null, takenBefore: 1, waitedMs: 0 };

/** What a worker does at the end of a job; `lostBy` is when it learns that the job was taken back. */
async function end(
  came: Result<Came, Problem>,
  so: { interrupted?: true; lostBy?: 'before' | 'the heartbeat' },
) {
  const done: string[] = [];
  const sent: Packed[] = [];
  const [lost, interrupted] = [new AbortController(), new AbortController()];
  if (so.interrupted) interrupted.abort();
  if (so.lostBy === 'before') lost.abort();
  const queue = {
    done: async (id: string, result: Packed) => {
      done.push(`done ${id}`);
      sent.push(result);
    },
    giveBack: async (id: string) => void done.push(`give back ${id}`),
    release: async ({ id, takenBefore }: { id: string; takenBefore: number }) =>
      void done.push(`release ${id} ${takenBefore}`),
  };
  const presence = {
    name: 'host-1',
    tell: async () => {
      done.push('tell');
      if (so.lostBy) lost.abort();
    },
  };
  await endJob({ queue, presence, job, lost: lost.signal, interrupted: interrupted.signal }, came);
  return { done, result: sent[0] && unpack(sent[0], jobResult) };
}

const problem = err<Problem>({ kind: 'usage', message: 'the disk is full', remedy: 'Make room.' });

it('SC-2 sends the result of a cause with the name of its worker', async () => {
  const { done, result } = await end(ok(healed), {});
  expect(done).toEqual(['done job', 'tell']);
  expect(result).toEqual({ ...healed, worker: 'host-1' });
});

it('SC-2 releases the cause without a retry if the worker was asked to end, even if that made it fail', async () => {
  expect((await end(ok(healed), { interrupted: true })).done).toEqual(['tell', 'release job 1']);
  expect((await end(problem, { interrupted: true })).done).toEqual(['tell', 'release job 1']);
});

it('SC-2 gives the cause back, which counts as a retry, if the worker failed', async () => {
  expect((await end(problem, {})).done).toEqual(['tell', 'give back job']);
});

it('SC-2 leaves a cause alone that was taken back, even if the worker learns of it only at the end', async () => {
  expect((await end(ok(healed), { lostBy: 'before' })).done).toEqual(['tell']);
  expect((await end(ok(healed), { interrupted: true, lostBy: 'the heartbeat' })).done).toEqual(['tell']);
});
