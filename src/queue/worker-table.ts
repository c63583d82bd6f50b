import { sql } from 'kysely';
import type { LimitSettings } from '../core/settings.js';
import type { Database } from '../store/tables.js';

/** What a worker is doing. */
export type WorkerState = 'waiting' | 'healing' | 'agent';

/** A worker as stored in its row. */
export interface WorkerRow {
  readonly id: string;
  /** The machine and process. */
  readonly name: string;
  readonly queue: string;
  readonly commit: string;
  /** A short hash of its settings. */
  readonly config: string;
  readonly version: string;
  readonly state: WorkerState;
  readonly causeId: string | null;
  readonly jobId: string | null;
  /** Incremented while the worker is alive. */
  readonly beat: number;
}

/** What the agents of a heal have spent on all machines. */
export interface SpentTogether {
  readonly agentRuns: number;
  /** US dollars; null if no agent program reports a cost. */
  readonly costUsd: number | null;
}

/** An agent before it starts. */
export interface AgentStart {
  readonly id: string;
  /** The id of its worker's row. */
  readonly worker: string | null;
}

/**
 * Who is working and what was spent, shared by all machines as rows of the store. Every method rejects if the store fails and may then be called
 * again: a write that did arrive is not repeated.
 */
export interface WorkerTable {
  /** Returns all workers of the project, including those at other commits. */
  workers(): Promise<WorkerRow[]>;
  /** Updates a worker's row with its next beat. Returns false if the row is gone because the worker was taken for dead. */
  beat(worker: WorkerRow): Promise<boolean>;
  register(worker: WorkerRow): Promise<void>;
  /** Removes a worker's row. With `beat`, returns false if the worker has sent a heartbeat since. */
  remove(worker: Pick<WorkerRow, 'id'> & Partial<Pick<WorkerRow, 'beat'>>): Promise<boolean>;
  /** Counts an agent that is about to start. Returns false if the agents so far have reached a limit of the run, or those at work may reach it. */
  claimAgent(agent: AgentStart, limits: Pick<LimitSettings, 'agentRuns' | 'costUsd'>): Promise<boolean>;
  /** Counts the restart of an agent (AG-7) as another agent with this id. */
  agentRestarted(id: string): Promise<void>;
  agentCost(id: string, usd: number): Promise<void>;
  spent(): Promise<SpentTogether>;
  /** Becomes the queue's coordinator, taking over from `instead` if given. Returns the current one if that is somebody else. */
  coordinate(who: string, instead?: Coordinator): Promise<Coordinator | null>;
  /** Returns the coordinator, whose `who` is empty if it has left; null if there is no heal. */
  coordinator(): Promise<Coordinator | null>;
  /** Returns false if another coordinator has taken over. */
  coordinatorBeat(who: string): Promise<boolean>;
  /** Ends the heal and forgets what was spent. */
  over(): Promise<void>;
  /** Gives up the role of coordinator, so that another process can continue. */
  leave(who: string): Promise<void>;
}

/** The coordinator named in the heal's row. */
export interface Coordinator {
  readonly who: string;
  readonly beat: number;
}

/** Stored when the coordinator has left, so that another process can continue. */
const nobody = '';

/** Returns access to the rows of a project and one of its queues. */
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
      return rows.map(({ project: _project, commitId: commit, state, ...row }) => ({
        ...row,
        commit,
        state: state === 'agent' || state === 'healing' ? state : 'waiting',
      }));
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
      await db.updateTable('healAgents').set({ costUsd: usd }).where('id', '=', id).execute();
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

function rowOf({ commit, ...row }: WorkerRow) {
  return { ...row, commitId: commit };
}

async function spent({ db, queue }: OfQueue): Promise<SpentTogether & { readonly dearestUsd: number }> {
  const { agents, cost, dearest } = await db
    .selectFrom('healAgents')
    .select(({ fn }) => [
      fn.countAll<string>().as('agents'),
      fn.sum<number | null>('costUsd').as('cost'),
      fn.max('costUsd').as('dearest'),
    ])
    .where('queue', '=', queue)
    .executeTakeFirstOrThrow();
  return { agentRuns: Number(agents), costUsd: cost, dearestUsd: dearest ?? 0 };
}

/** Adds a row per agent, so that counting one again changes nothing. Adds none if the heal is over. */
async function countAgent({ db, queue }: OfQueue, id: string): Promise<void> {
  await db
    .insertInto('healAgents')
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

/** Locks the heal's row, so that no two workers claim the last agent. */
function claimAgent(
  { db, queue }: OfQueue,
  { id, worker }: AgentStart,
  limits: Pick<LimitSettings, 'agentRuns' | 'costUsd'>,
): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const heals = transaction.selectFrom('heals').select('queue').where('queue', '=', queue);
    if (!(await heals.forUpdate().executeTakeFirst())) return false;
    const of = { db: transaction, queue };
    const counted = transaction.selectFrom('healAgents').select('id').where('id', '=', id);
    if (!(await counted.executeTakeFirst())) {
      if (!(await isWithin(of, limits))) return false;
      await countAgent(of, id);
    }
    if (worker !== null)
      await transaction.updateTable('workers').set({ state: 'agent' }).where('id', '=', worker).execute();
    return true;
  });
}

/** Whether one more agent may start. Agents at work count as much as the most expensive so far, since their cost is unknown until they end. */
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

/** Takes over from another coordinator only if it has left, or has sent no heartbeat since `instead`. Past spending still counts. */
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
  // The other coordinator's heal ended in between and deleted the row.
  if (now === null) return coordinate({ db, queue }, who);
  return now.who === who ? null : now;
}

async function coordinator({ db, queue }: OfQueue): Promise<Coordinator | null> {
  const row = await db.selectFrom('heals').selectAll().where('queue', '=', queue).executeTakeFirst();
  return row ? { who: row.coordinator, beat: row.beat } : null;
}
