import { sql, type Transaction } from 'kysely';

/** The version of the tables. A change of them needs a new one: see `openStore`. */
export const storeVersion = 1;

/** Creates the tables that `tables.ts` describes, in SQL that SQLite and PostgreSQL share. */
export async function createTables(db: Transaction<unknown>): Promise<void> {
  for (const statement of tables.split(';\n')) await sql.raw(statement).execute(db);
  await sql`insert into store_version (version) values (${storeVersion})`.execute(db);
}

const tables = `
create table store_version (version integer not null);
create table runs (
  id text primary key, project text not null, started_at text not null, ended_at text, outcome text, exit_code integer,
  request text not null, progress text not null, resumed_from text
);
create table signatures (
  signature text primary key, project text not null, count integer not null, failed_fixes integer not null,
  healed_times integer not null, healed_at text, healed_in text, came_back integer not null, came_back_at text,
  undone integer not null, guidance text, decision text, first_seen text not null, last_seen text not null
);
create table causes (
  run_id text not null, id text not null, project text not null, signature text not null, category text not null,
  verdict text not null, reason text not null, ended_at text not null, primary key (run_id, id)
);
create table attempts (
  id text primary key, run_id text not null, cause_id text not null, project text not null, signature text not null,
  n integer not null, agent text, runner text, started_at text not null, finished_at text, outcome text, judged text,
  cost_usd double precision, files text, claim text, failed_because text, patch text, reverted integer
);
create index attempts_by_signature on attempts (signature);
create table escalations (
  id text primary key, project text not null, signature text not null, run_id text not null, category text not null,
  retry text not null, problem text not null, recommendation text not null, tried text not null, choices text not null,
  tests text not null, offers text not null, state text not null, created_at text not null, choice text, guidance text, resolved_at text
);
-- Two machines that meet the same failure ask one question.
create unique index one_question_a_signature on escalations (signature) where state = 'pending';
create table quarantines (
  project text not null, test_id text not null, name text not null, escalation_id text not null, since text not null,
  until text not null, primary key (project, test_id)
)`;
