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

/** What a worker does at the end of a job; `lostBy`: its sign of life finds the job taken back. */
async function end(came: Result<Came, Problem>, so: { interrupted?: true; lostBy?: 'before' | 'the sign' }) {
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

it('SC-2 what came of a cause is sent with the name of its worker', async () => {
  const { done, result } = await end(ok(healed), {});
  expect(done).toEqual(['done job', 'tell']);
  expect(result).toEqual({ ...healed, worker: 'host-1' });
});

it('SC-2 a worker that was asked to end lets its cause go at no cost, also where that made it fail', async () => {
  expect((await end(ok(healed), { interrupted: true })).done).toEqual(['tell', 'release job 1']);
  expect((await end(problem, { interrupted: true })).done).toEqual(['tell', 'release job 1']);
});

it('SC-2 a worker that failed gives its cause back, which counts', async () => {
  expect((await end(problem, {})).done).toEqual(['tell', 'give back job']);
});

it('SC-2 a cause that was taken back is left to whom it went, also where the worker learns it only when it ends', async () => {
  expect((await end(ok(healed), { lostBy: 'before' })).done).toEqual(['tell']);
  expect((await end(ok(healed), { interrupted: true, lostBy: 'the sign' })).done).toEqual(['tell']);
});
