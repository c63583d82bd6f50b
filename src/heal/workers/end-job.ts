import { say } from '../../outputs/say.js';
import type { Problem } from '../../problem.js';
import type { JobResult } from '../../queue/messages.js';
import type { Queue, TakenJob } from '../../queue/open-queue.js';
import { pack, type Packed } from '../../queue/packed.js';
import type { Result } from '../../result.js';
import type { Came } from './heal-job.js';
import type { Presence } from './presence.js';

/** A job that a worker has worked on. */
export interface EndedJob {
  readonly queue: Pick<Queue, 'done' | 'giveBack' | 'release'>;
  readonly presence: Pick<Presence, 'name' | 'tell'>;
  readonly job: TakenJob;
  /** Aborted where the job is no longer this worker's. */
  readonly lost: AbortSignal;
  /** Aborted where the worker was asked to end. */
  readonly interrupted: AbortSignal;
}

/** Sends what came of a job, or lets another worker have it: at the cost of a retry only where this one failed. */
export async function endJob(
  { queue, presence, job, lost, interrupted }: EndedJob,
  came: Result<Came, Problem>,
): Promise<void> {
  if (came.ok && !lost.aborted && !interrupted.aborted) {
    await send({ ...came.value, worker: presence.name }, (result) => queue.done(job.id, result));
    return presence.tell(waiting);
  }
  // The sign of life tells whether the job is still this worker's.
  await presence.tell(waiting);
  if (lost.aborted) say('the cause was taken back; its patch is dropped');
  else if (interrupted.aborted) {
    await queue.release(job);
    say('the cause goes to another worker');
  } else await queue.giveBack(job.id);
}

const waiting = { state: 'waiting', causeId: null, jobId: null } as const;

async function send(result: JobResult, done: (result: Packed) => Promise<void>): Promise<void> {
  const { worker } = result;
  const tooLarge: JobResult = { kind: 'refused', worker, reason: 'its patch is too large to be sent' };
  const packed = pack(result) ?? pack(tooLarge);
  if (packed) await done(packed);
  say(result.kind === 'refused' ? `not healed: ${result.reason}` : `sent back: ${result.conclusion.reason}`);
}
