import { type Clock, systemClock } from '../../clock.js';
import { exitCodeOfSignal, exitCodes } from '../../core/exit-codes.js';
import { say } from '../../outputs/say.js';
import type { Problem } from '../../problem.js';
import { type Interrupts, listenForInterrupts } from '../../process/interrupts.js';
import { openQueue, type Queue, type TakenJob } from '../../queue/open-queue.js';
import { createPatience, isAway, isOfDatabase, longestAwayMs, patient } from '../../queue/patient.js';
import { type Coordinator, workerTable, type WorkerTable } from '../../queue/worker-table.js';
import { recover } from '../../run/recover-if-needed.js';
import { repositoryLock } from '../../run/repository-lock.js';
import { underLock } from '../../run/under-lock.js';
import { redact } from '../../secrets/redact.js';
import { openStore } from '../../store/open-store.js';
import { checkRequest } from '../check-request.js';
import type { RunRequest } from '../run-request.js';
import { committedHere, type HealedHere } from './healed-here.js';
import { createPresence, type Presence } from './presence.js';
import { storeProblem } from './store-problem.js';
import { takeJob, type WorkerParts } from './take-job.js';
import type { JobResult } from '../../queue/messages.js';
import { pack, type Packed } from '../../queue/packed.js';
import type { Result } from '../../result.js';
import type { Came } from './heal-job.js';

/** When a worker exits by itself. */
export interface WorkerOptions {
  /** After one cause. */
  readonly once: boolean;
  /** After this many milliseconds without a cause and without a coordinator that could send one; null for never. */
  readonly idleTimeoutMs: number | null;
}

/** The longest interval between two polls of the queue, in milliseconds. */
const mostPollMs = 2000;

/** Runs `self-heal worker`: heals causes from the queue, one after another, in this checkout (SC-2). Returns the exit code. */
export async function runWorker(request: RunRequest, options: WorkerOptions): Promise<number | Problem> {
  const checked = await checkRequest(request);
  if (!checked.ok) return checked.error;
  const [missing] = checked.value.missing.values();
  if (missing) return missing;
  const clean = await committedHere(request, checked.value);
  if (!clean.ok) return clean.error;
  const here = clean.value;
  const locked = { cwd: request.cwd, command: 'worker', wait: request.options.wait ?? false };
  return underLock(locked, (lock) => underWay({ request, checked: checked.value, here, lock }, options));
}

type Place = Pick<WorkerParts, 'request' | 'checked' | 'here' | 'lock'>;

async function underWay(place: Place, options: WorkerOptions): Promise<number | Problem> {
  const { request, checked, here } = place;
  const unrecovered = await recover(request.cwd);
  if (unrecovered) return unrecovered;
  using interrupts = listenForInterrupts(say);
  const opened = await openStore(checked.settings.store, request.cwd);
  if (!opened.ok) return opened.error;
  const db = opened.value;
  const rows = workerTable(db, here.project, here.queue);
  const onAway = (reason: string) => say(`cannot reach the store (${redact(reason)}); retrying`);
  const onBack = () => say('the store is reachable again');
  const { signal } = interrupts;
  const patience = createPatience({ clock: systemClock, signal, forMs: longestAwayMs, onAway, onBack });
  try {
    const queue = patient(await openQueue(db, here.queue), patience);
    try {
      await using presence = await createPresence(rows, place);
      const table = patient(rows, patience);
      say(`worker ${presence.name} is waiting for causes of ${here.project} at ${here.commit.slice(0, 12)}`);
      return await takeJobs({ ...place, db, table, patience, presence, queue, interrupts }, options);
    } finally {
      await queue.close();
    }
  } catch (error) {
    if (!isOfDatabase(error)) throw error;
    // A worker that was asked to exit does not wait for the server.
    const by = isAway(error) ? interrupts.by() : null;
    return by === null ? storeProblem(checked.settings.store, error) : exitCodeOfSignal(by);
  } finally {
    await db.destroy();
  }
}

interface AtWork extends Place, Pick<WorkerParts, 'db' | 'table' | 'patience'> {
  readonly presence: Presence;
  readonly queue: Queue;
  readonly interrupts: Interrupts;
}

async function takeJobs(at: AtWork, { once, idleTimeoutMs }: WorkerOptions): Promise<number | Problem> {
  const { queue, interrupts, here, checked, request } = at;
  const pollMs = Math.min(mostPollMs, checked.settings.queue.leaseMs / 2);
  const idle = createIdle({ table: at.table, clock: systemClock, timeoutMs: idleTimeoutMs });
  while (!interrupts.signal.aborted) {
    const job = await queue.take();
    if (!job) {
      const over = await idle.overWhy();
      if (over !== null) {
        say(`${over}; exiting`);
        return exitCodes.green;
      }
      await systemClock.sleep(pollMs, interrupts.signal);
      continue;
    }
    const now = await committedHere(request, checked);
    if (!now.ok || now.value.queue !== here.queue) {
      await queue.release(job);
      return now.ok ? moved(here, now.value) : now.error;
    }
    const problem = await healTaken(at, job);
    if (problem) return problem;
    if (once) break;
    idle.busy();
  }
  const by = interrupts.by();
  return by === null ? exitCodes.green : exitCodeOfSignal(by);
}

async function healTaken(at: AtWork, job: TakenJob): Promise<Problem | null> {
  const { presence, interrupts } = at;
  const lost = presence.begin(job.id);
  const signal = AbortSignal.any([interrupts.signal, lost]);
  const parts: WorkerParts = {
    ...at,
    rowId: () => presence.id(),
    onCause: (causeId) => presence.tell({ state: 'healing', causeId, jobId: job.id }),
    onAgent: (isAtWork) =>
      void presence.tell({ state: isAtWork ? 'agent' : 'healing' }).catch(() => undefined),
  };
  using repository = repositoryLock(at.request.cwd, { signal, onWait: say });
  await repository.hold('exclusive');
  const came = await takeJob(parts, job, signal);
  await endJob({ ...at, job, lost, interrupted: interrupts.signal }, came);
  return came.ok ? null : came.error;
}

function moved(here: HealedHere, now: HealedHere): Problem {
  const commits = `the checkout changed from ${here.commit.slice(0, 12)} to ${now.commit.slice(0, 12)} since the worker started`;
  return {
    kind: 'usage',
    message: now.commit === here.commit ? 'the settings changed since the worker started' : commits,
    remedy: 'Restart the worker; it then takes causes of the current checkout.',
  };
}

/** A job that a worker has finished working on. */
interface EndedJob {
  readonly queue: Pick<Queue, 'done' | 'giveBack' | 'release'>;
  readonly presence: Pick<Presence, 'name' | 'tell'>;
  readonly job: TakenJob;
  /** Aborted if the job is no longer this worker's. */
  readonly lost: AbortSignal;
  /** Aborted if the worker was asked to exit. */
  readonly interrupted: AbortSignal;
}

/** Sends the result of a job, or leaves the job to another worker, which uses up a retry only if this worker failed. */
export async function endJob(
  { queue, presence, job, lost, interrupted }: EndedJob,
  came: Result<Came, Problem>,
): Promise<void> {
  if (came.ok && !lost.aborted && !interrupted.aborted) {
    await send({ ...came.value, worker: presence.name }, (result) => queue.done(job.id, result));
    return presence.tell(waiting);
  }
  // The heartbeat shows whether the job is still this worker's.
  await presence.tell(waiting);
  if (lost.aborted) say('the cause was taken back; its patch is discarded');
  else if (interrupted.aborted) {
    await queue.release(job);
    say('the cause is left to another worker');
  } else await queue.giveBack(job.id);
}

const waiting = { state: 'waiting', causeId: null, jobId: null } as const;

async function send(result: JobResult, done: (result: Packed) => Promise<void>): Promise<void> {
  const { worker } = result;
  const tooLarge: JobResult = { kind: 'refused', worker, reason: 'its patch is too large to send' };
  const packed = pack(result) ?? pack(tooLarge);
  if (packed) await done(packed);
  say(result.kind === 'refused' ? `not healed: ${result.reason}` : `sent back: ${result.end.reason}`);
}

/** Decides whether an idle worker keeps waiting. */
interface Idle {
  /** Notes that it had a cause. */
  busy(): void;
  /** Returns why waiting is over, in words, or null to keep waiting. */
  overWhy(): Promise<string | null>;
}

/** What idle time is measured with. */
interface IdleParts {
  readonly table: Pick<WorkerTable, 'coordinator'>;
  readonly clock: Clock;
  /** In milliseconds; null for never. */
  readonly timeoutMs: number | null;
}

/**
 * Measures how long nobody has been there who could send a cause. While the coordinator of this tree sends heartbeats, it may still send
 * one, even after a long search for the change to blame. Once it is done, no more causes will come.
 */
export function createIdle({ table, clock, timeoutMs }: IdleParts): Idle {
  let since = clock.now();
  let seen: Coordinator | null = null;
  return {
    busy: () => {
      since = clock.now();
    },
    overWhy: async () => {
      if (timeoutMs === null) return null;
      const now = await table.coordinator();
      if (seen !== null && now === null) return 'the run whose causes it was waiting for is over';
      if (now !== null && now.beat !== seen?.beat) since = clock.now();
      seen = now;
      return clock.now() - since >= timeoutMs ? 'no causes until the idle timeout' : null;
    },
  };
}
