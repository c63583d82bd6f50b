import { mkdirSync } from 'node:fs';
import path from 'node:path';
import {
  type Dialect,
  type DatabaseConnection,
  type Driver,
  CamelCasePlugin,
  Kysely,
  PostgresDialect,
  sql,
  CompiledQuery,
  SqliteDialect,
} from 'kysely';
import type Libsql from 'libsql';
import {
  checkDatabase,
  listDatabaseFiles,
  makeStateFolder,
  stateFolder,
  StateRefused,
  findTracked,
} from '../state-folder.js';
import { isInside, resolveLinks } from '../paths.js';
import { redact } from '../secrets/redactor.js';
import { type Problem, describeError } from '../problem.js';
import { type Result, err, ok } from '../result.js';
import { createTables, type Database, DamagedStoreError, storeVersion, type Tables } from './tables.js';

/** How long to wait for a connection or for another process's write, in milliseconds. */
const TIMEOUT_MS = 10_000;

/**
 * Opens the store at a `postgres://` URL or a path (SQLite, relative to `cwd`, created if missing). Returns `store-unreadable` for a store that is
 * damaged or has another version, never an empty store. Returns `store-unusable` for one that cannot be reached or written: healing continues without
 * it (ME-9).
 */
export async function openStore(
  location: string,
  cwd: string,
  { mayCreate = true } = {},
): Promise<Result<Database, Problem>> {
  let db: Database | undefined;
  try {
    const isPostgres = isUrl(location);
    const file = path.resolve(cwd, location);
    if (!isPostgres && (await isTracked(file, cwd))) return err(createTrackedProblem(location));
    db = isPostgres ? await connectToPostgres(location) : await openSqliteFile(file, { cwd, mayCreate });
    const problem = await createTablesIfNew(db as unknown as Kysely<unknown>, { isPostgres, location });
    if (!problem) return ok(db);
    await db.destroy();
    return err(problem);
  } catch (error) {
    // The original error is returned below.
    await db?.destroy().catch(() => undefined);
    if (error instanceof StateRefused) return err(error.problem);
    return err(
      isDamaged(error)
        ? createDamagedProblem(location, describeError(error))
        : createUnusableProblem(location, error),
    );
  }
}

/** True if the `store` of agents.yaml names a server. */
export function isUrl(location: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(location);
}

// Each driver is loaded only when needed: a green run needs neither (CL-4).

async function connectToPostgres(url: string): Promise<Database> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: url,
    max: 2,
    connectionTimeoutMillis: TIMEOUT_MS,
    // Detects a server that vanished without closing the connection.
    keepAlive: true,
    keepAliveInitialDelayMillis: TIMEOUT_MS,
  });
  // When an idle connection breaks, the next query replaces it or fails.
  pool.on('error', () => undefined);
  // When a busy connection breaks, its query rejects. Without this listener, the process would end as well.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return createDatabase(new PostgresDialect({ pool }));
}

/** The plugin converts names: snake case in the database, camel case in the code. */
function createDatabase(dialect: Dialect): Database {
  return new Kysely<Tables>({ dialect, plugins: [new CamelCasePlugin()] });
}

/** True if git tracks the file, so that anybody may have written it. Tracked files in `.self-heal` are refused earlier. */
async function isTracked(file: string, cwd: string): Promise<boolean> {
  if (isInside(stateFolder(cwd), file)) return false;
  const names = listDatabaseFiles(path.basename(file));
  return (await findTracked(path.dirname(file), names)).length > 0;
}

async function openSqliteFile(
  file: string,
  { cwd, mayCreate }: { readonly cwd: string; readonly mayCreate: boolean },
): Promise<Database> {
  const { default: Libsql } = await import('libsql');
  if (isInside(stateFolder(cwd), file)) makeStateFolder(path.dirname(file));
  else mkdirSync(path.dirname(file), { recursive: true });
  // A store outside of the project may be a link, for example to a shared disk.
  checkDatabase(isInside(stateFolder(cwd), file) ? file : resolveLinks(file));
  const database = new Libsql(file, { timeout: TIMEOUT_MS });
  try {
    checkContents(database, mayCreate);
    // Keeps SQLite's default journal: switching to a write-ahead log fails while another process writes, and such a log works only on one machine. Syncs
    // every commit, because it may record the cost of an agent; commits are rare.
    database.pragma('synchronous = FULL');
    return createDatabase(new LibsqlDialect({ database }));
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Checks the file before the first write, because a file that is not a store must stay unchanged. */
function checkContents(database: Libsql.Database, mayCreate: boolean): void {
  const [check] = database.pragma('quick_check(1)') as { quick_check?: string }[];
  if (check?.quick_check !== 'ok')
    throw new DamagedStoreError(check?.quick_check ?? 'the integrity check failed');
  const tables = database.prepare(`select name from sqlite_master where type = 'table'`).all() as {
    name: string;
  }[];
  if (tables.length === 0 ? !mayCreate : !tables.some(({ name }) => name === 'store_version'))
    throw new DamagedStoreError("it does not contain self-heal's tables");
}

function isDamaged(error: unknown): boolean {
  const code = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return error instanceof DamagedStoreError || code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT';
}

/** Returns a `Problem` for an error of an open store, null for any other error. */
export function explainStoreError(location: string, error: unknown): Problem | null {
  // A missing column or table is an `SQLITE_ERROR`.
  const isUnknown = error instanceof Error && Reflect.get(error, 'code') === 'SQLITE_ERROR';
  return isUnknown || isDamaged(error) ? createDamagedProblem(location, describeError(error)) : null;
}

/** A store of another version is left unchanged, because its counts and answers are expensive to recreate. */
function createVersionProblem(location: string, version: number): Problem {
  return {
    kind: 'store-unreadable',
    message: `The store ${redact(location)} was created by another version of self-heal (its tables have version ${version}, this self-heal needs version ${storeVersion})`,
    remedy: isUrl(location)
      ? 'Use that version of self-heal, or name another database or schema as `store` in agents.yaml.'
      : 'Use that version of self-heal, or move the file away: a new store starts without its retry counts and open escalations.',
  };
}

function createTrackedProblem(location: string): Problem {
  return {
    kind: 'store-unreadable',
    message: `git tracks the store ${location}, so anybody may have written it`,
    remedy: `Remove it from the repository: git rm --cached ${location}, then delete it, or name another \`store\`.`,
  };
}

function createDamagedProblem(location: string, detail: string): Problem {
  return {
    kind: 'store-unreadable',
    message: `The store ${redact(location)} is damaged, or is not a self-heal store`,
    detail: redact(detail),
    remedy: 'Restore a backup, or move the file away; its retry counts and open escalations are then lost.',
  };
}

/** PostgreSQL's error code. */
const INSUFFICIENT_PRIVILEGE = '42501';

function createUnusableProblem(location: string, error: unknown): Problem {
  const lacksPrivilege = error instanceof Error && Reflect.get(error, 'code') === INSUFFICIENT_PRIVILEGE;
  return {
    kind: 'store-unusable',
    message: `The store ${redact(location)} cannot be opened`,
    detail: redact(describeError(error)),
    remedy: lacksPrivilege
      ? 'Allow its user to create tables (GRANT CREATE ON SCHEMA … TO …), or name another database.'
      : isUrl(location)
        ? 'Check that the server is running and can be reached from here, or name another `store`.'
        : 'Check that it exists and is writable (`store` in agents.yaml).',
  };
}

/** An arbitrary number, the same in every process. */
const ADVISORY_LOCK_KEY = 7_318_532;

/**
 * Creates the tables if there are none, in one transaction under a lock: only one of several processes creates them, and a kill leaves no partial store.
 * Returns a `Problem` if the store cannot be used, otherwise null.
 */
async function createTablesIfNew(
  db: Kysely<unknown>,
  { isPostgres, location }: { readonly isPostgres: boolean; readonly location: string },
): Promise<Problem | null> {
  // An existing store needs no lock.
  if ((await readVersion(db, isPostgres)) === storeVersion) return null;
  return db.transaction().execute(async (transaction) => {
    if (isPostgres) await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK_KEY})`.execute(transaction);
    const version = await readVersion(transaction, isPostgres);
    if (version === 0) await createTables(transaction);
    if (version === null) return createDamagedProblem(location, 'it does not record its version');
    return version === 0 || version === storeVersion ? null : createVersionProblem(location, version);
  });
}

/** Returns 0 if there is no store yet; null for an empty version table, which self-heal never creates. */
async function readVersion(db: Kysely<unknown>, isPostgres: boolean): Promise<number | null> {
  const tables = isPostgres
    ? sql`select 1 from information_schema.tables where table_schema = current_schema() and table_name = 'store_version'`
    : sql`select 1 from sqlite_master where type = 'table' and name = 'store_version'`;
  if ((await tables.execute(db)).rows.length === 0) return 0;
  const { rows } = await sql<{ version: number }>`select version from store_version`.execute(db);
  return rows[0]?.version ?? null;
}

/**
 * A Kysely dialect over one `libsql` connection. Kysely's own SQLite dialect begins transactions as readers, and SQLite refuses immediately to
 * upgrade one of two readers to a writer. Several processes share a store (ME-10), so each transaction waits for the write lock when it begins.
 */
class LibsqlDialect extends SqliteDialect {
  override createDriver(): Driver {
    const driver = super.createDriver();
    driver.beginTransaction = async (connection: DatabaseConnection) => {
      await connection.executeQuery(CompiledQuery.raw('begin immediate'));
    };
    return driver;
  }
}
