import { truncate } from 'node:fs/promises';
import type Libsql from 'libsql';

const begin = {
  /** Any number of processes may hold it, unless one holds it exclusively. */
  shared: 'BEGIN; SELECT count(*) FROM sqlite_schema',
  /** One process holds it, and nobody else. */
  exclusive: 'BEGIN EXCLUSIVE',
} as const;

/** How a lock is held. */
export type LockMode = keyof typeof begin;

/**
 * Locks an empty file with a transaction of SQLite, that is, with a lock of the operating system: it ends with the process that holds it,
 * however that ends, even in another container or after the machine slept, where a pid or the age of a file would mislead. Returns the
 * connection whose open transaction is the lock, or null if another process holds the lock.
 */
export async function trySqliteLock(file: string, mode: LockMode): Promise<Libsql.Database | null> {
  const { default: Database } = await import('libsql');
  const database = new Database(file, { timeout: 0 });
  try {
    database.exec(begin[mode]);
    return database;
  } catch (error) {
    database.close();
    const { code } = error as { code?: string };
    if (code === 'SQLITE_BUSY') return null;
    if (code !== 'SQLITE_NOTADB') throw error;
    // Somebody wrote into the file. It is truncated rather than replaced, because others may hold a lock on it.
    await truncate(file);
    return trySqliteLock(file, mode);
  }
}
