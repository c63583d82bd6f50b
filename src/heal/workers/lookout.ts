import { systemClock } from '../../clock.js';
import { type CauseEnd, timeIsUp } from '../../core/policy.js';
import { jobResult } from '../../queue/messages.js';
import { unpack } from '../../queue/packed.js';
import { createWatch } from '../../queue/queue-watch.js';
import type { SpentTogether, WorkerRow } from '../../queue/worker-table.js';
import { reasonOf } from '../../reason-of.js';
import type { Session } from '../session.js';
import type { DispatchParts } from './dispatch.js';
import { createWorkerNews } from './worker-news.js';
import type { FromWorkers, SentCause } from './workers.js';

/** A cause whose result is awaited. */
interface Waiting {
  readonly session: Session;
  readonly sent: SentCause;
}

/** The longest interval between two polls, in milliseconds. */
const mostPollMs = 1000;

/** Watches what was sent (results, dead workers, limits), and sends the coordinator's heartbeat. */
export class Lookout {
  readonly #parts: DispatchParts;
  readonly #news: ReturnType<typeof createWorkerNews>;
  readonly #watch: ReturnType<typeof createWatch>;
  readonly #waiting = new Map<string, Waiting & { readonly settle: (came: FromWorkers) => void }>();
  readonly #takenBack: Promise<void>[] = [];
  readonly #stop = new AbortController();
  readonly #looking: Promise<void>;
  #spent: SpentTogether = { agentRuns: 0, costUsd: null };

  constructor(parts: DispatchParts) {
    const { queue, table, opened, here } = parts;
    const { leaseMs } = opened.settings.queue;
    this.#parts = parts;
    this.#news = createWorkerNews(opened.bus, here, opened.settings);
    this.#watch = createWatch({
      queue,
      table,
      clock: systemClock,
      leaseMs,
      onWorkers: (workers) => this.#news.saw(workers, this.#waiting.size),
      onLost: (id, worker) => this.#news.lost(this.#waiting.get(id)?.sent.cause.id ?? null, worker),
    });
    this.#looking = this.#lookUntilClosed(Math.min(mostPollMs, leaseMs / 5));
  }

  /** The last known total of what the agents on all machines have spent. */
  get spent(): SpentTogether {
    return this.#spent;
  }

  /** Waits for the result of a cause. */
  resultOf(id: string, { session, sent }: Waiting): Promise<FromWorkers> {
    return new Promise((settle) => {
      this.#waiting.set(id, { session, sent, settle });
      const onAbort = () => {
        this.#takenBack.push(this.#takeBack(id, interrupted(session)).catch(() => undefined));
      };
      if (session.signal.aborted) onAbort();
      session.signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#looking;
    await Promise.all(this.#takenBack);
    this.#spent = await this.#parts.table.spent().catch(() => this.#spent);
  }

  async #lookUntilClosed(pollMs: number): Promise<void> {
    const { patience } = this.#parts;
    while (!this.#stop.signal.aborted) {
      await this.#look().then(
        () => patience.answered(),
        (error: unknown) => {
          this.#watch.wasBlind();
          if (!patience.missed(error)) this.#giveUp(error);
        },
      );
      await systemClock.sleep(pollMs, this.#stop.signal);
    }
  }

  async #look(): Promise<void> {
    const { table, who } = this.#parts;
    if (!(await table.coordinatorBeat(who))) {
      this.#news.replaced();
      return this.#settleAll(
        'another machine took over its causes, because this one sent no heartbeat for too long',
      );
    }
    const alive = await this.#watch.workers();
    for (const [id, one] of this.#waiting) await this.#lookAt(id, one, alive);
    this.#spent = await table.spent();
  }

  async #lookAt(id: string, { session, sent }: Waiting, alive: readonly WorkerRow[]): Promise<unknown> {
    const { state, output } = await this.#parts.queue.look(id);
    if (state === 'taken') return this.#watch.taken(id, alive);
    if (state === 'done') return this.#settle(id, resultIn(output));
    if (state !== 'waiting')
      return this.#settle(id, failed('no worker healed it: every worker that took it was lost'));
    const stopped = whyStopped(session, sent);
    return stopped && this.#takeBack(id, stopped);
  }

  async #takeBack(id: string, end: CauseEnd): Promise<void> {
    const { queue, table } = this.#parts;
    if (!this.#settle(id, { kind: 'ended', end })) return;
    await queue.cancel(id);
    // The worker that has the cause finds its row gone and stops its agent.
    for (const worker of await table.workers())
      if (worker.jobId === id) await table.remove({ id: worker.id });
  }

  /** Ends all causes, because the store was unreachable for too long; workers stop waiting for it after the same time. */
  #giveUp(error: unknown): void {
    const reason = `the store was unreachable for too long (${reasonOf(error)}): run the same command again when it is back; finished work is kept`;
    this.#settleAll(reason);
  }

  #settleAll(reason: string): void {
    for (const id of this.#waiting.keys()) this.#settle(id, failed(reason));
  }

  #settle(id: string, came: FromWorkers): boolean {
    this.#waiting.get(id)?.settle(came);
    return this.#waiting.delete(id);
  }
}

function resultIn(output: unknown): FromWorkers {
  const result = unpack(output, jobResult);
  if (!result) return failed('the result from its worker cannot be read');
  if (result.kind === 'tried') return result;
  return failed(`worker ${result.worker} could not heal it: ${result.reason}`);
}

function whyStopped({ settings, spending, clock }: Session, { cause, mayGoOn }: SentCause): CauseEnd | null {
  if (!mayGoOn()) return { verdict: 'interrupted', reason: 'healing stopped before a worker took it' };
  if (spending.spentFor(cause, clock.now()).elapsedMs < settings.limits.timeMs) return null;
  const reason = `${timeIsUp(settings.limits)} before a worker took it`;
  return { verdict: 'budget', reason };
}

function interrupted({ signal }: Session): CauseEnd {
  const reason =
    typeof signal.reason === 'string' ? signal.reason : 'interrupted while a worker was healing it';
  return { verdict: 'interrupted', reason };
}

/** Creates the end of a cause that no worker could heal. */
export function failed(reason: string): FromWorkers {
  return { kind: 'ended', end: { verdict: 'failed', reason } };
}
