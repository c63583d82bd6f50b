import { sql, type Kysely } from 'kysely';
import { migrations } from './migrations.js';

/** Any number, the same in every process: PostgreSQL's name for our lock. */
const LOCK = 7_318_532;

/** What a store was found to be. */
export type Migrated =
  | { readonly kind: 'current' }
  /** Made by a later self-heal, whose tables this one does not know. */
  | { readonly kind: 'newer'; readonly version: number; readonly known: number }
  /** The table of the version is there and empty: nothing of ours leaves it so. */
  | { readonly kind: 'unversioned' };

/**
 * Brings the store to the newest version, in one transaction under a lock: of eight processes that open a new store at once
 * one makes it and the others find it made, and a kill leaves the version that was there before.
 */
export async function migrate(db: Kysely<unknown>, isPostgres: boolean): Promise<Migrated> {
  const known = migrations.length;
  // Most openings find the store as it has to be, and take no lock.
  if ((await versionOf(db, isPostgres)) === known) return { kind: 'current' };
  return db.transaction().execute(async (transaction) => {
    if (isPostgres) await sql`select pg_advisory_xact_lock(${LOCK})`.execute(transaction);
    const version = await versionOf(transaction, isPostgres);
    if (version === null) return { kind: 'unversioned' };
    if (version > known) return { kind: 'newer', version, known };
    if (version === 0) await sql`create table store_version (version integer not null)`.execute(transaction);
    for (const step of migrations.slice(version)) await step(transaction);
    await sql`delete from store_version`.execute(transaction);
    await sql`insert into store_version (version) values (${known})`.execute(transaction);
    return { kind: 'current' };
  });
}

/** 0 where there is nothing yet. */
async function versionOf(db: Kysely<unknown>, isPostgres: boolean): Promise<number | null> {
  const tables = isPostgres
    ? sql`select 1 from information_schema.tables where table_schema = current_schema() and table_name = 'store_version'`
    : sql`select 1 from sqlite_master where type = 'table' and name = 'store_version'`;
  if ((await tables.execute(db)).rows.length === 0) return 0;
  const { rows } = await sql<{ version: number }>`select version from store_version`.execute(db);
  return rows[0]?.version ?? null;
}
