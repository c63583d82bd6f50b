import type { Cause } from '../../core/cause.js';
import { isBuiltIn } from '../../core/built-in-fixer.js';
import { failureKey } from '../../core/failure.js';
import type { Conclusion } from '../../core/policy.js';
import { systemClock } from '../../clock.js';
import type { SuiteRun } from '../../playwright/suite-run.js';
import { jobResult } from '../../queue/messages.js';
import type { Queue } from '../../queue/open-queue.js';
import { pack, unpack } from '../../queue/packed.js';
import { jobId } from '../../queue/queue-name.js';
import { createWatch } from '../../queue/queue-watch.js';
import { sendEdits } from '../../queue/sent-edits.js';
import type { SpentTogether, WorkerRow, WorkerTable } from '../../queue/worker-table.js';
import { contentsOf } from '../../workspace/change.js';
import type { Opened } from '../open-run.js';
import type { Session } from '../session.js';
import { causeJob } from './cause-job.js';
import type { HealedHere } from './healed-here.js';
import { keptSoFar } from './kept-so-far.js';
import { createWorkerNews } from './worker-news.js';
import type { FromWorkers, SentCause, Workers } from './workers.js';

/** What a coordinator works with. */
export interface DispatchParts {
  readonly opened: Opened;
  readonly first: SuiteRun;
  readonly here: HealedHere;
  readonly queue: Queue;
  readonly table: WorkerTable;
  /** The coordinator, as its row names it. */
  readonly who: string;
}

/** A cause that is waited for. */
interface Waiting {
  readonly session: Session;
  readonly sent: SentCause;
  readonly settle: (came: FromWorkers) => void;
}

/** Sends causes, and looks after them and their workers until it is closed. */
export function createDispatch(parts: DispatchParts): Workers {
  const { opened, queue, table, who } = parts;
  const { bus, settings } = opened;
  const { leaseMs } = settings.queue;
  const waiting = new Map<string, Waiting>();
  const sentIds = new Set<string>();
  const names = createNames(queue.name);
  const agentsOnTest = new Map<string, number>();
  const news = createWorkerNews(bus, parts.here, settings);
  let spent: SpentTogether = { agentRuns: 0, costUsd: null };
  const stop = new AbortController();
  const causeOf = (id: string) => waiting.get(id)?.sent.cause.id ?? null;
  const watch = createWatch({
    queue,
    table,
    clock: systemClock,
    leaseMs,
    onWorkers: (workers) => news.saw(workers, waiting.size),
    onLost: (id, worker) => news.lost(causeOf(id), worker),
  });

  function settle(id: string, came: FromWorkers): void {
    waiting.get(id)?.settle(came);
    waiting.delete(id);
  }

  async function lookAt(id: string, { session, sent }: Waiting, alive: readonly WorkerRow[]): Promise<void> {
    const { state, output } = await queue.look(id);
    if (state === 'taken') return watch.taken(id, alive);
    if (state === 'done') return settle(id, resultIn(output));
    if (state !== 'waiting') return settle(id, failed('no worker healed it: each that took it was lost'));
    const stopped = whyStopped(session, sent);
    if (stopped) await takeBack(id, stopped);
  }

  async function takeBack(id: string, conclusion: Conclusion): Promise<void> {
    settle(id, { kind: 'ended', conclusion });
    await queue.cancel(id);
    // Whoever works on it finds its row gone, and ends its agent.
    for (const worker of await table.workers()) if (worker.jobId === id) await table.remove(worker);
  }

  async function look(): Promise<void> {
    if (!(await table.coordinatorBeat(who))) news.replaced();
    const alive = await watch.workers();
    for (const [id, one] of waiting) await lookAt(id, one, alive);
    spent = await table.spent();
  }

  const looking = (async () => {
    while (!stop.signal.aborted) {
      // A server that is started anew is waited for.
      await look().then(news.reached, news.unreachable);
      await systemClock.sleep(Math.min(1000, leaseMs / 5), stop.signal);
    }
  })();

  return {
    send: async (session, sent) => {
      const { cause } = sent;
      const made = await packed(parts, session, {
        sent,
        agentRunsOnTest: Math.max(0, ...keysOf(cause).map((key) => agentsOnTest.get(key) ?? 0)),
      });
      if (typeof made === 'string') return () => Promise.resolve(failed(made));
      const id = jobId(queue.name, names.next(cause));
      sentIds.add(id);
      const failure = await queue.send(id, made).then(() => null, reasonOf);
      if (failure !== null) return () => Promise.resolve(failed(`it could not be sent: ${failure}`));
      bus.emit({ type: 'cause.sent', causeId: cause.id });
      return async () => {
        const came = await new Promise<FromWorkers>((resolve) => {
          waiting.set(id, { session, sent, settle: resolve });
          const onAbort = () => void takeBack(id, interrupted(session)).catch(() => undefined);
          if (session.signal.aborted) onAbort();
          session.signal.addEventListener('abort', onAbort, { once: true });
        });
        const agents = came.kind === 'tried' ? came.attempts.filter(isAgents).length : 0;
        for (const key of keysOf(cause)) agentsOnTest.set(key, (agentsOnTest.get(key) ?? 0) + agents);
        return came;
      };
    },
    spent: () => spent,
    close: async (isOver) => {
      stop.abort();
      await looking;
      spent = await table.spent().catch(() => spent);
      const end = isOver ? Promise.all([queue.remove([...sentIds]), table.over()]) : table.leave(who);
      // What is left of it does no harm, and says who coordinates until the lease ends.
      await Promise.resolve(end).catch(() => undefined);
    },
  };
}

function isAgents({ attempt }: Extract<FromWorkers, { kind: 'tried' }>['attempts'][number]): boolean {
  return attempt.agent !== null && !isBuiltIn(attempt);
}

/** The same name for the same cause, in this run and in one that goes on with it: its signature, and how often it was sent. */
function createNames(queue: string): { next(cause: Cause): string } {
  const owners = new Map<string, string[]>();
  const times = new Map<string, number>();
  return {
    next: ({ id, lead: { signature } }) => {
      const own = owners.get(signature) ?? [];
      if (!own.includes(id)) own.push(id);
      owners.set(signature, own);
      const time = (times.get(id) ?? 0) + 1;
      times.set(id, time);
      return [queue, signature, own.indexOf(id), time].join('\n');
    },
  };
}

/** The job of a cause; or why there is none, in words. */
async function packed(
  { first, here, opened }: DispatchParts,
  session: Session,
  { sent, agentRunsOnTest }: { sent: SentCause; agentRunsOnTest: number },
) {
  const contents = contentsOf(session.folder.dir);
  const base = await sendEdits(await keptSoFar(session.workspace, contents), contents, session.redactor);
  if ('secretIn' in base)
    return `${base.secretIn} was changed here and holds a secret, which is not sent to workers: commit it, or heal without --queue`;
  const { project, commit, selection, root, place } = here;
  const context = {
    first,
    place: { project, commit, playwright: opened.playwright.version, selection: [...selection], root, place },
    base: base.edits,
    agentRunsOnTest,
  };
  return pack(await causeJob(session, sent, context)) ?? 'its evidence is too large to be sent to a worker';
}

function resultIn(output: unknown): FromWorkers {
  const result = unpack(output, jobResult);
  if (!result) return failed('what its worker sent cannot be read');
  if (result.kind === 'tried') return result;
  return failed(`worker ${result.worker} could not heal it: ${result.reason}`);
}

function whyStopped(
  { settings, spending, clock }: Session,
  { cause, mayGoOn }: SentCause,
): Conclusion | null {
  const { timeMs } = settings.limits;
  if (!mayGoOn()) return { verdict: 'interrupted', reason: 'healing stopped before a worker took it' };
  if (spending.spentFor(cause, clock.now()).elapsedMs < timeMs) return null;
  const reason = `limits.time (${timeMs / 60_000} min) is reached, and no worker took it`;
  return { verdict: 'budget', reason };
}

function interrupted({ signal }: Session): Conclusion {
  const reason = typeof signal.reason === 'string' ? signal.reason : 'interrupted while a worker had it';
  return { verdict: 'interrupted', reason };
}

function failed(reason: string): FromWorkers {
  return { kind: 'ended', conclusion: { verdict: 'failed', reason } };
}

function keysOf({ members }: Cause): string[] {
  return members.map(({ failure }) => failureKey(failure));
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
