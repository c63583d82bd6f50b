import { sql, type Kysely, type Transaction } from 'kysely';

/** A step from one version of the store to the next; version n is what the first n steps made. */
export type Migration = (db: Transaction<unknown>) => Promise<void>;

/** All steps, oldest first. One that was released is never changed: a store may have taken it. */
export const migrations: readonly Migration[] = [first, second, third, fourth];

async function first(db: Transaction<unknown>): Promise<void> {
  await createRuns(db);
  await createSignatures(db);
  await createCauses(db);
  await createAttempts(db);
  await createEscalations(db);
  await createQuarantines(db);
}

/** Whether a try's change was reverted is a fact of its own: progress is kept, and without git everything is. */
async function second(db: Transaction<unknown>): Promise<void> {
  await db.schema.alterTable('attempts').addColumn('taken_back', 'integer').execute();
}

/** A quarantine ends by itself; one from before ends 30 days after it began. A fix that a person undid did not hold. */
async function third(db: Transaction<unknown>): Promise<void> {
  await db.schema.alterTable('quarantines').addColumn('until', 'text').execute();
  const { rows } = await sql<{
    test_id: string;
    since: string;
  }>`select test_id, since from quarantines`.execute(db);
  for (const { test_id: id, since } of rows) {
    const until = new Date(Date.parse(since) + 30 * 24 * 60 * 60_000).toISOString();
    await sql`update quarantines set until = ${until} where test_id = ${id} and since = ${since}`.execute(db);
  }
  await db.schema
    .alterTable('signatures')
    .addColumn('undone', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
}

/** Workers on several machines, and what they have spent together; used in PostgreSQL alone. */
async function fourth(db: Transaction<unknown>): Promise<void> {
  await db.schema
    .createTable('heals')
    .addColumn('queue', 'text', (column) => column.primaryKey())
    .addColumn('coordinator', 'text', (column) => column.notNull())
    .addColumn('beat', 'integer', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('heal_agents')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('queue', 'text', (column) => column.notNull().references('heals.queue').onDelete('cascade'))
    .addColumn('cost_usd', 'double precision')
    .execute();
  await db.schema.createIndex('heal_agents_by_queue').on('heal_agents').column('queue').execute();
  const texts = ['project', 'queue', 'commit_id', 'config', 'version', 'name', 'state', 'since'];
  const table = texts.reduce(
    (building, name) => building.addColumn(name, 'text', (column) => column.notNull()),
    db.schema.createTable('workers').addColumn('id', 'text', (column) => column.primaryKey()),
  );
  await table
    .addColumn('cause_id', 'text')
    .addColumn('job_id', 'text')
    .addColumn('beat', 'integer', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('workers_by_project').on('workers').column('project').execute();
}

function createRuns(db: Kysely<unknown>): Promise<void> {
  return db.schema
    .createTable('runs')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('project', 'text', (column) => column.notNull())
    .addColumn('started_at', 'text', (column) => column.notNull())
    .addColumn('ended_at', 'text')
    .addColumn('outcome', 'text')
    .addColumn('exit_code', 'integer')
    .addColumn('request', 'text', (column) => column.notNull())
    .addColumn('progress', 'text', (column) => column.notNull())
    .addColumn('flaky', 'integer', (column) => column.notNull())
    .addColumn('agent_runs_avoided', 'integer', (column) => column.notNull())
    .addColumn('resumed_from', 'text')
    .execute();
}

function createSignatures(db: Kysely<unknown>): Promise<void> {
  return db.schema
    .createTable('signatures')
    .addColumn('signature', 'text', (column) => column.primaryKey())
    .addColumn('project', 'text', (column) => column.notNull())
    .addColumn('count', 'integer', (column) => column.notNull())
    .addColumn('failed_fixes', 'integer', (column) => column.notNull())
    .addColumn('healed_times', 'integer', (column) => column.notNull())
    .addColumn('healed_at', 'text')
    .addColumn('healed_in', 'text')
    .addColumn('came_back', 'integer', (column) => column.notNull())
    .addColumn('came_back_at', 'text')
    .addColumn('guidance', 'text')
    .addColumn('first_seen', 'text', (column) => column.notNull())
    .addColumn('last_seen', 'text', (column) => column.notNull())
    .execute();
}

function createCauses(db: Kysely<unknown>): Promise<void> {
  return db.schema
    .createTable('causes')
    .addColumn('run_id', 'text', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('project', 'text', (column) => column.notNull())
    .addColumn('signature', 'text', (column) => column.notNull())
    .addColumn('category', 'text', (column) => column.notNull())
    .addColumn('verdict', 'text', (column) => column.notNull())
    .addColumn('reason', 'text', (column) => column.notNull())
    .addColumn('ended_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('causes_key', ['run_id', 'id'])
    .execute();
}

async function createAttempts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('attempts')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('run_id', 'text', (column) => column.notNull())
    .addColumn('cause_id', 'text', (column) => column.notNull())
    .addColumn('project', 'text', (column) => column.notNull())
    .addColumn('signature', 'text', (column) => column.notNull())
    .addColumn('n', 'integer', (column) => column.notNull())
    .addColumn('agent', 'text')
    .addColumn('runner', 'text')
    .addColumn('started_at', 'text', (column) => column.notNull())
    .addColumn('finished_at', 'text')
    .addColumn('outcome', 'text')
    .addColumn('judged', 'text')
    .addColumn('cost_usd', 'double precision')
    .addColumn('files', 'text')
    .addColumn('claim', 'text')
    .addColumn('failed_because', 'text')
    .addColumn('patch', 'text')
    .execute();
  await db.schema.createIndex('attempts_by_signature').on('attempts').column('signature').execute();
}

async function createEscalations(db: Kysely<unknown>): Promise<void> {
  const texts = ['project', 'signature', 'run_id', 'category', 'retry', 'problem'];
  const more = ['recommendation', 'tried', 'choices', 'tests', 'state', 'created_at'];
  const table = [...texts, ...more].reduce(
    (building, name) => building.addColumn(name, 'text', (column) => column.notNull()),
    db.schema.createTable('escalations').addColumn('id', 'text', (column) => column.primaryKey()),
  );
  await table
    .addColumn('choice', 'text')
    .addColumn('guidance', 'text')
    .addColumn('resolved_at', 'text')
    .execute();
  // Two machines that meet the same failure ask one question.
  await db.schema
    .createIndex('one_question_a_signature')
    .unique()
    .on('escalations')
    .column('signature')
    .where(sql<boolean>`state = 'pending'`)
    .execute();
}

function createQuarantines(db: Kysely<unknown>): Promise<void> {
  return db.schema
    .createTable('quarantines')
    .addColumn('project', 'text', (column) => column.notNull())
    .addColumn('test_id', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('escalation_id', 'text', (column) => column.notNull())
    .addColumn('since', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('quarantines_key', ['project', 'test_id'])
    .execute();
}
