import { sql } from 'kysely';
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

/** An agent before it is started. */
export interface AgentStart {
  readonly id: string;
  /** The row of its worker. */
  readonly worker: string | null;
}

/**
 * Who is at work, and what was spent, where everybody sees it: rows of the store. Each method rejects where the store fails, and may then be
 * called again: what was written after all is not written twice.
 */
export interface WorkerTable {
  /** All that look for causes of the project, also at other commits. */
  workers(): Promise<WorkerRow[]>;
  /** Writes a worker's row anew, with its next beat; false where it was taken for dead, and its row is gone. */
  beat(worker: WorkerRow): Promise<boolean>;
  register(worker: WorkerRow): Promise<void>;
  /** Takes the row out, of a worker that gave no sign since this one; false where it did. */
  remove(worker: Pick<WorkerRow, 'id'> & Partial<Pick<WorkerRow, 'beat'>>): Promise<boolean>;
  /** Counts an agent that is to be started now; false where a limit of the run is met by those that were, or may be by those at work. */
  claimAgent(agent: AgentStart, limits: Pick<LimitSettings, 'agentRuns' | 'costUsd'>): Promise<boolean>;
  /** An agent is started once more (AG-7), which counts as another one, of this id. */
  agentRestarted(id: string): Promise<void>;
  agentCost(id: string, usd: number): Promise<void>;
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
    claimAgent: (agent, limits) => claimAgent({ db, queue }, agent, limits),
    agentRestarted: (id) => countAgent({ db, queue }, id),
    agentCost: async (id, usd) => {
      await db.updateTable('heal_agents').set({ cost_usd: usd }).where('id', '=', id).execute();
    },
    spent: async () => {
      const { agentRuns, costUsd } = await spent({ db, queue });
      return { agentRuns, costUsd };
    },
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

async function spent({ db, queue }: OfQueue): Promise<SpentTogether & { readonly dearestUsd: number }> {
  const { agents, cost, dearest } = await db
    .selectFrom('heal_agents')
    .select(({ fn }) => [
      fn.countAll<string>().as('agents'),
      fn.sum<number | null>('cost_usd').as('cost'),
      fn.max('cost_usd').as('dearest'),
    ])
    .where('queue', '=', queue)
    .executeTakeFirstOrThrow();
  return { agentRuns: Number(agents), costUsd: cost, dearestUsd: dearest ?? 0 };
}

/** A row for each agent, so that one that is counted again is the same; none where the heal is over. */
async function countAgent({ db, queue }: OfQueue, id: string): Promise<void> {
  await db
    .insertInto('heal_agents')
    .columns(['id', 'queue'])
    .expression(
      db
        .selectFrom('heals')
        .select([sql.val(id).as('id'), 'queue'])
        .where('queue', '=', queue),
    )
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** All that claim wait for each other at the row of the heal, so that no two take the last agent. */
function claimAgent(
  { db, queue }: OfQueue,
  { id, worker }: AgentStart,
  limits: Pick<LimitSettings, 'agentRuns' | 'costUsd'>,
): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const heals = transaction.selectFrom('heals').select('queue').where('queue', '=', queue);
    if (!(await heals.forUpdate().executeTakeFirst())) return false;
    const of = { db: transaction, queue };
    const counted = transaction.selectFrom('heal_agents').select('id').where('id', '=', id);
    if (!(await counted.executeTakeFirst())) {
      if (!(await isWithin(of, limits))) return false;
      await countAgent(of, id);
    }
    if (worker !== null)
      await transaction.updateTable('workers').set({ state: 'agent' }).where('id', '=', worker).execute();
    return true;
  });
}

/** Whether one more agent may be started. Those at work count as much as the dearest so far, since what they cost is known when they end. */
async function isWithin(
  { db, queue }: OfQueue,
  limits: Pick<LimitSettings, 'agentRuns' | 'costUsd'>,
): Promise<boolean> {
  const { agentRuns, costUsd, dearestUsd } = await spent({ db, queue });
  if (agentRuns >= limits.agentRuns) return false;
  const { atWork } = await db
    .selectFrom('workers')
    .select((select) => select.fn.countAll<string>().as('atWork'))
    .where('queue', '=', queue)
    .where('state', '=', 'agent')
    .executeTakeFirstOrThrow();
  return (costUsd ?? 0) + Number(atWork) * dearestUsd < limits.costUsd;
}

/** Where another one coordinates, only in the place of one that gave no sign since. What it had spent counts on. */
async function coordinate(
  { db, queue }: OfQueue,
  who: string,
  instead?: Coordinator,
): Promise<Coordinator | null> {
  await db
    .insertInto('heals')
    .values({ queue, coordinator: who, beat: 0 })
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
