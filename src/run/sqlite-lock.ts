import { access, constants, truncate } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type Libsql from 'libsql';

const begin = {
  /** Any number of processes may hold it, unless one holds it exclusively. */
  shared: 'BEGIN; SELECT count(*) FROM sqlite_schema',
  /** One process holds it, and nobody else. */
  exclusive: 'BEGIN EXCLUSIVE',
} as const;

/** How a lock is held. */
export type LockMode = keyof typeof begin;

const RETRY_MS = 200;

/**
 * Locks an empty file with a transaction of SQLite, that is, with a lock of the operating system: it ends with the process that holds it,
 * however that ends, even in another container or after the machine slept, where a pid or the age of a file would mislead. Returns the
 * connection whose open transaction is the lock. While another process holds the lock, calls `goesOn` after each try; returns null as soon
 * as that returns false.
 */
export async function sqliteLock(
  file: string,
  mode: LockMode,
  goesOn: () => boolean | Promise<boolean>,
): Promise<Libsql.Database | null> {
  for (;;) {
    const database = await tryLock(file, mode);
    if (database || !(await goesOn())) return database;
    await delay(RETRY_MS);
  }
}

/** Returns null if another process holds the lock. */
async function tryLock(file: string, mode: LockMode): Promise<Libsql.Database | null> {
  const { default: Database } = await import('libsql');
  const database = new Database(file, { timeout: 0 });
  try {
    database.exec(begin[mode]);
    // SQLite locks a file that it may not write only as `shared`, without an error.
    if (mode === 'exclusive') await access(file, constants.W_OK);
    return database;
  } catch (error) {
    database.close();
    const { code } = error as { code?: string };
    if (code === 'SQLITE_BUSY') return null;
    if (code !== 'SQLITE_NOTADB') throw error;
    // Somebody wrote into the file. It is truncated rather than replaced, because others may hold a lock on it.
    await truncate(file);
    return tryLock(file, mode);
  }
}
