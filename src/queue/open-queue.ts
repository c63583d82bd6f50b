import { Mutex } from 'async-mutex';
import { CompiledQuery, sql } from 'kysely';
import type PgBoss from 'pg-boss';
import type { Database } from '../store/tables.js';
import type { Packed } from './packed.js';

/** The state of a job. `gone`: it was never sent, or it was removed. */
export interface JobState {
  readonly state: 'waiting' | 'taken' | 'done' | 'given-up' | 'gone';
  /** Its result, not validated. */
  readonly output: unknown;
}

/** A job taken by this process. */
export interface TakenJob {
  readonly id: string;
  /** Not validated. */
  readonly data: unknown;
  /** How often it was taken before. */
  readonly takenBefore: number;
  /** How long it waited, in milliseconds, by the database's clock. */
  readonly waitedMs: number;
}

/** The causes of one tree that wait for a worker, in a pg-boss queue in the store's database. */
export interface Queue {
  readonly name: string;
  /** Adds a job. Does nothing if a job with this id is waiting, taken or done. */
  send(id: string, job: Packed): Promise<void>;
  look(id: string): Promise<JobState>;
  /** Takes the job that has waited longest, or returns null if none waits. No other process gets it meanwhile. */
  take(): Promise<TakenJob | null>;
  done(id: string, result: Packed): Promise<void>;
  /** Returns a job whose worker died or failed: another one may take it, up to the retry limit. */
  giveBack(id: string): Promise<void>;
  /** Returns a job whose worker was asked to stop: another one may take it, and no retry is used up. Does nothing if it is no longer taken. */
  release(job: Pick<TakenJob, 'id' | 'takenBefore'>): Promise<void>;
  cancel(id: string): Promise<void>;
  /** Removes these jobs, and the queue if it is empty. */
  remove(ids: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** How often a job goes to another worker before it is given up. */
const retries = 2;
/** Cleans up jobs whose coordinator never came back. */
const expireInHours = 12;
const keepDays = 7;
const schema = 'self_heal_queue';
/** An advisory lock: arbitrary, the same in every process, and different from the store's lock. */
const tablesLock = 7_318_533;

const states: Record<PgBoss.JobWithMetadata['state'], JobState['state']> = {
  created: 'waiting',
  retry: 'waiting',
  active: 'taken',
  completed: 'done',
  cancelled: 'given-up',
  failed: 'given-up',
};

/** Opens a queue on the store's own connections, and creates its tables if they do not exist. */
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
  // pg-boss retries its maintenance, and our own calls reject by themselves.
  boss.on('error', () => undefined);
  // Each queue is a table. Processes that create tables at the same time would deadlock, or pg-boss would leave a failed transaction open.
  // Within this process, callers wait before they take a connection, since the work needs a second one.
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
      // An earlier heal may have removed the queue when it ended.
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
      // pg-boss deletes other jobs in time.
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
  // pg-boss treats an unreachable or failing server as an empty queue, so the error is caught on the way.
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

/** pg-boss has no such method, and each fetch counts as a retry. Its own `retry`, for failed jobs, also raises the limit by one. */
async function release(
  db: Database,
  name: string,
  { id, takenBefore }: Pick<TakenJob, 'id' | 'takenBefore'>,
): Promise<void> {
  await sql`
    update ${sql.table(`${schema}.job`)} set state = 'retry', retry_limit = retry_limit + 1
    where name = ${name} and id = ${id} and state = 'active' and retry_count = ${takenBefore}`.execute(db);
}
