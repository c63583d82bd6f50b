import type { LimitSettings } from '../core/settings.js';
import type { Database } from '../store/tables.js';

/** What a worker does. */
export type WorkerState = 'waiting' | 'healing' | 'agent';

/** A worker as its row tells of it. */
export interface WorkerRow {
  readonly id: string;
  /** Machine and process. */
  readonly name: string;
  readonly queue: string;
  readonly commit: string;
  /** Its settings, in a few letters. */
  readonly config: string;
  readonly version: string;
  readonly state: WorkerState;
  /** In this state; ISO 8601, by its own clock. */
  readonly since: string;
  readonly causeId: string | null;
  readonly jobId: string | null;
  /** Counted up while it is alive. */
  readonly beat: number;
}

/** What the agents of a heal have come to, on all machines. */
export interface SpentTogether {
  readonly agentRuns: number;
  /** US dollars; null where no agent program reports any. */
  readonly costUsd: number | null;
}

/** Who is at work, and what was spent, where everybody sees it: rows of the store. Each method rejects where the store fails. */
export interface WorkerTable {
  /** All that look for causes of the project, also at other commits. */
  workers(): Promise<WorkerRow[]>;
  /** Writes a worker's row anew, with its next beat; false where it was taken for dead, and its row is gone. */
  beat(worker: WorkerRow): Promise<boolean>;
  register(worker: WorkerRow): Promise<void>;
  /** Takes the row out, of a worker that gave no sign since this one; false where it did. */
  remove(worker: Pick<WorkerRow, 'id'> & Partial<Pick<WorkerRow, 'beat'>>): Promise<boolean>;
  /** Counts an agent that is to be started now; false where a limit of the run is met by those that were, or may be by those at work. */
  claimAgent(worker: string | null, limits: Pick<LimitSettings, 'agentRuns' | 'costUsd'>): Promise<boolean>;
  /** The same agent once more (AG-7). */
  agentRestarted(): Promise<void>;
  agentCost(usd: number): Promise<void>;
  spent(): Promise<SpentTogether>;
  /** Becomes the coordinator of the queue; gives the other one that is, with its beat. */
  coordinate(who: string, instead?: Coordinator): Promise<Coordinator | null>;
  /** Who coordinates, whose `who` is empty where it has left; null where there is no heal. */
  coordinator(): Promise<Coordinator | null>;
  /** False where another one has taken its place. */
  coordinatorBeat(who: string): Promise<boolean>;
  /** The heal is over: what was spent is forgotten. */
  over(): Promise<void>;
  /** The coordinator leaves, and another one may go on. */
  leave(who: string): Promise<void>;
}

/** The coordinator that a row names. */
export interface Coordinator {
  readonly who: string;
  readonly beat: number;
}

/** Nobody coordinates: the one who did has left the heal for another to go on with. */
const nobody = '';

/** The rows of a project and one of its queues. */
export function workerTable(db: Database, project: string, queue: string): WorkerTable {
  const heals = () => db.updateTable('heals').where('queue', '=', queue);
  const happened = (changed: { numUpdatedRows: bigint } | undefined) => changed?.numUpdatedRows === 1n;
  return {
    workers: async () => {
      const rows = await db
        .selectFrom('workers')
        .selectAll()
        .where('project', '=', project)
        .orderBy('name')
        .execute();
      return rows.map(({ commit_id: commit, cause_id: causeId, job_id: jobId, state, ...row }) => {
        const { id, name, queue: own, config, version, since, beat } = row;
        const is = state === 'agent' || state === 'healing' ? state : 'waiting';
        return { id, name, queue: own, commit, config, version, state: is, since, causeId, jobId, beat };
      });
    },
    register: async (worker) => {
      await db
        .insertInto('workers')
        .values({ project, ...rowOf(worker) })
        .execute();
    },
    beat: async ({ id, ...worker }) => {
      const set = rowOf({ id, ...worker });
      return happened(await db.updateTable('workers').set(set).where('id', '=', id).executeTakeFirst());
    },
    remove: async ({ id, beat }) => {
      const gone = db.deleteFrom('workers').where('id', '=', id);
      const { numDeletedRows } = await (
        beat === undefined ? gone : gone.where('beat', '=', beat)
      ).executeTakeFirst();
      return numDeletedRows === 1n;
    },
    claimAgent: (worker, limits) => claimAgent({ db, queue }, worker, limits),
    agentRestarted: async () => {
      await heals()
        .set((set) => ({ agent_runs: set('agent_runs', '+', 1) }))
        .execute();
    },
    agentCost: (usd) => agentCost({ db, queue }, usd),
    spent: () => spent({ db, queue }),
    coordinate: (who, instead) => coordinate({ db, queue }, who, instead),
    coordinator: () => coordinator({ db, queue }),
    coordinatorBeat: async (who) =>
      happened(
        await heals()
          .set((set) => ({ beat: set('beat', '+', 1) }))
          .where('coordinator', '=', who)
          .executeTakeFirst(),
      ),
    over: async () => {
      await db.deleteFrom('heals').where('queue', '=', queue).execute();
    },
    leave: async (who) => {
      await heals().set({ coordinator: nobody }).where('coordinator', '=', who).execute();
    },
  };
}

interface OfQueue {
  readonly db: Database;
  readonly queue: string;
}

function rowOf({ commit, causeId, jobId, ...row }: WorkerRow) {
  return { ...row, commit_id: commit, cause_id: causeId, job_id: jobId };
}

async function spent({ db, queue }: OfQueue): Promise<SpentTogether> {
  const row = await db.selectFrom('heals').selectAll().where('queue', '=', queue).executeTakeFirst();
  return { agentRuns: row?.agent_runs ?? 0, costUsd: row?.cost_usd ?? null };
}

/** The row of the heal, which nobody else reads or writes until the transaction ends. */
function lockedHeal(transaction: Database, queue: string) {
  return transaction
    .selectFrom('heals')
    .selectAll()
    .where('queue', '=', queue)
    .forUpdate()
    .executeTakeFirst();
}

/** All that claim wait for each other at the row of the heal, so that no two take the last agent. */
function claimAgent(
  { db, queue }: OfQueue,
  worker: string | null,
  limits: Pick<LimitSettings, 'agentRuns' | 'costUsd'>,
): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const heal = await lockedHeal(transaction, queue);
    if (!heal || heal.agent_runs >= limits.agentRuns) return false;
    const { atWork } = await transaction
      .selectFrom('workers')
      .select((select) => select.fn.countAll<string>().as('atWork'))
      .where('queue', '=', queue)
      .where('state', '=', 'agent')
      .executeTakeFirstOrThrow();
    // Those at work count as much as the dearest so far, since what they cost is known when they end.
    const likely = (heal.cost_usd ?? 0) + Number(atWork) * heal.dearest_usd;
    if (likely >= limits.costUsd) return false;
    await transaction
      .updateTable('heals')
      .set({ agent_runs: heal.agent_runs + 1 })
      .where('queue', '=', queue)
      .execute();
    if (worker !== null)
      await transaction.updateTable('workers').set({ state: 'agent' }).where('id', '=', worker).execute();
    return true;
  });
}

async function agentCost({ db, queue }: OfQueue, usd: number): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const heal = await lockedHeal(transaction, queue);
    if (!heal) return;
    await transaction
      .updateTable('heals')
      .set({ cost_usd: (heal.cost_usd ?? 0) + usd, dearest_usd: Math.max(heal.dearest_usd, usd) })
      .where('queue', '=', queue)
      .execute();
  });
}

/** Where another one coordinates, only in the place of one that gave no sign since. What it had spent counts on. */
async function coordinate(
  { db, queue }: OfQueue,
  who: string,
  instead?: Coordinator,
): Promise<Coordinator | null> {
  const fresh = { queue, coordinator: who, beat: 0, agent_runs: 0, cost_usd: null, dearest_usd: 0 };
  await db
    .insertInto('heals')
    .values(fresh)
    .onConflict((conflict) => conflict.column('queue').doNothing())
    .execute();
  await db
    .updateTable('heals')
    .set({ coordinator: who })
    .where('queue', '=', queue)
    .where((where) =>
      where.or([
        where('coordinator', '=', nobody),
        ...(instead
          ? [where.and([where('coordinator', '=', instead.who), where('beat', '=', instead.beat)])]
          : []),
      ]),
    )
    .execute();
  const now = await coordinator({ db, queue });
  // The heal of another one ended in between, and took the row with it.
  if (now === null) return coordinate({ db, queue }, who);
  return now.who === who ? null : now;
}

async function coordinator({ db, queue }: OfQueue): Promise<Coordinator | null> {
  const row = await db.selectFrom('heals').selectAll().where('queue', '=', queue).executeTakeFirst();
  return row ? { who: row.coordinator, beat: row.beat } : null;
}
