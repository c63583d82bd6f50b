import { Mutex } from 'async-mutex';
import { CompiledQuery, sql } from 'kysely';
import type PgBoss from 'pg-boss';
import type { Database } from '../store/tables.js';
import type { Packed } from './packed.js';

/** How a job stands. `gone`: nobody has sent it, or it was taken out. */
export interface JobState {
  readonly state: 'waiting' | 'taken' | 'done' | 'given-up' | 'gone';
  /** What came of it; unchecked. */
  readonly output: unknown;
}

/** A job that this process has taken. */
export interface TakenJob {
  readonly id: string;
  /** Unchecked. */
  readonly data: unknown;
  /** How often others had taken it before. */
  readonly takenBefore: number;
  /** How long it had waited, in milliseconds, by the database's clock. */
  readonly waitedMs: number;
}

/** The causes of one tree that wait for a worker: a queue of pg-boss in the store's database. */
export interface Queue {
  readonly name: string;
  /** A job of this id that is there already, waits, is worked on or is done, stays as it is. */
  send(id: string, job: Packed): Promise<void>;
  look(id: string): Promise<JobState>;
  /** Takes the job that waits longest; null where none does. No other process gets it meanwhile. */
  take(): Promise<TakenJob | null>;
  done(id: string, result: Packed): Promise<void>;
  /** Whoever had taken it is gone, or failed: another one may take it, a few times. */
  giveBack(id: string): Promise<void>;
  /** Whoever has taken it was asked to end: another one may take it, and it has lost none of its retries. One that is no longer taken stays. */
  release(job: Pick<TakenJob, 'id' | 'takenBefore'>): Promise<void>;
  cancel(id: string): Promise<void>;
  /** Takes these out of the database, and the queue where nothing else is in it. */
  remove(ids: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** How often a job is given to another worker before it is given up. */
const retries = 2;
/** For what nobody looks after: a coordinator that never came back. */
const expireInHours = 12;
const keepDays = 7;
const schema = 'self_heal_queue';
/** Any number, the same in every process, and none that the store uses. */
const tablesLock = 7_318_533;

const states: Record<PgBoss.JobWithMetadata['state'], JobState['state']> = {
  created: 'waiting',
  retry: 'waiting',
  active: 'taken',
  completed: 'done',
  cancelled: 'given-up',
  failed: 'given-up',
};

/** Opens a queue over the store's own connections; the tables are made where they are not there yet. */
export async function openQueue(db: Database, name: string): Promise<Queue> {
  const { default: Boss } = await import('pg-boss');
  const executeSql: PgBoss.Db['executeSql'] = async (text, values) => {
    const { rows } = await db.executeQuery(CompiledQuery.raw(text, values));
    return { rows };
  };
  const boss = new Boss({
    db: { executeSql },
    schema,
    schedule: false,
    archiveCompletedAfterSeconds: 24 * 60 * 60,
    deleteAfterDays: keepDays,
    retentionDays: keepDays,
  });
  // Its maintenance is tried again; what is asked of it rejects by itself.
  boss.on('error', () => undefined);
  // A queue is a table. Processes that make tables at the same time would deadlock, or pg-boss would leave a transaction that has failed.
  // Within this process they queue up before they take a connection, since the work needs a second one.
  const tables = new Mutex();
  const alone = (work: () => Promise<unknown>): Promise<void> =>
    tables.runExclusive(() =>
      db.transaction().execute(async (transaction) => {
        await sql`select pg_advisory_xact_lock(${tablesLock})`.execute(transaction);
        await work();
      }),
    );
  await alone(() => boss.start());
  const look = async (id: string): Promise<JobState> => {
    const job = await boss.getJobById(name, id, { includeArchive: true });
    return job ? { state: states[job.state], output: job.output } : { state: 'gone', output: null };
  };
  return {
    name,
    look,
    send: async (id, job) => {
      // It may have been taken out with the heal before this one.
      await alone(() => boss.createQueue(name));
      const options = { id, retryLimit: retries, retryDelay: 0, expireInHours };
      if ((await boss.send(name, job, options)) !== null || (await look(id)).state !== 'given-up') return;
      await boss.deleteJob(name, id);
      await boss.send(name, job, options);
    },
    take: () => take(boss, name, executeSql),
    done: (id, result) => boss.complete(name, id, result),
    giveBack: (id) => boss.fail(name, id),
    release: (job) => release(db, name, job),
    cancel: (id) => boss.cancel(name, id),
    remove: async (ids) => {
      if (ids.length > 0) await boss.deleteJob(name, [...ids]);
      // Others are taken out by pg-boss in time.
      await alone(() => boss.deleteQueue(name)).catch(() => undefined);
    },
    close: () => boss.stop({ graceful: false }),
  };
}

async function take(
  boss: PgBoss,
  name: string,
  executeSql: PgBoss.Db['executeSql'],
): Promise<TakenJob | null> {
  // To pg-boss a server that is away, or refuses, is an empty queue.
  let failure: unknown = null;
  const asking: typeof executeSql = (text, values) =>
    executeSql(text, values).catch((error: unknown) => {
      failure = error;
      throw error;
    });
  const [job] = await boss.fetch<object>(name, { includeMetadata: true, db: { executeSql: asking } });
  if (failure !== null) throw failure;
  if (!job) return null;
  const waitedMs = job.startedOn.getTime() - job.createdOn.getTime();
  return { id: job.id, data: job.data, takenBefore: job.retryCount, waitedMs };
}

/** pg-boss has no such method: each fetch counts as a retry. Its `retry` raises the limit by one too, of a job that has failed. */
async function release(
  db: Database,
  name: string,
  { id, takenBefore }: Pick<TakenJob, 'id' | 'takenBefore'>,
): Promise<void> {
  await sql`
    update ${sql.table(`${schema}.job`)} set state = 'retry', retry_limit = retry_limit + 1
    where name = ${name} and id = ${id} and state = 'active' and retry_count = ${takenBefore}`.execute(db);
}
