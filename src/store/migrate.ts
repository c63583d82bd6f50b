import { sql, type Kysely } from 'kysely';
import { migrations } from './migrations.js';

/** Any number, the same in every process: PostgreSQL's name for our lock. */
const LOCK = 7_318_532;

/** What a store was found to be. */
export type Migrated =
  | { readonly kind: 'current' }
  /** Made by a later self-heal, whose tables this one does not know. */
  | { readonly kind: 'newer'; readonly version: number; readonly known: number }
  /** There are tables, and none of them says which version they are. */
  | { readonly kind: 'foreign' };

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
    if (version === 'foreign') return { kind: 'foreign' };
    if (version > known) return { kind: 'newer', version, known };
    if (version === 0) await sql`create table store_version (version integer not null)`.execute(transaction);
    for (const step of migrations.slice(version)) await step(transaction);
    await sql`delete from store_version`.execute(transaction);
    await sql`insert into store_version (version) values (${known})`.execute(transaction);
    return { kind: 'current' };
  });
}

/** 0 where there is nothing yet. PostgreSQL may hold other people's tables beside ours; a file of ours holds ours alone. */
async function versionOf(db: Kysely<unknown>, isPostgres: boolean): Promise<number | 'foreign'> {
  const tables = await tableNames(db, isPostgres);
  if (!tables.includes('store_version')) return tables.length === 0 || isPostgres ? 0 : 'foreign';
  const { rows } = await sql<{ version: number }>`select version from store_version`.execute(db);
  return rows[0]?.version ?? 'foreign';
}

async function tableNames(db: Kysely<unknown>, isPostgres: boolean): Promise<string[]> {
  const query = isPostgres
    ? sql<{ name: string }>`select table_name as name from information_schema.tables where table_schema = current_schema()`
    : sql<{ name: string }>`select name from sqlite_master where type = 'table'`;
  const { rows } = await query.execute(db);
  return rows.map((row) => row.name);
}
