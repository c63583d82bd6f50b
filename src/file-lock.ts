import { access, constants, truncate } from 'node:fs/promises';

/**
 * Locks an empty file with an SQLite transaction, and so with a lock of the operating system: it ends with the process that holds it,
 * even in another container or after the machine slept, where a pid or the age of a file would mislead. Returns the lock, or null if
 * another process holds it.
 */
export async function lockFile(file: string): Promise<Disposable | null> {
  const { default: Database } = await import('libsql');
  const database = new Database(file, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
    // SQLite opens a read-only file without an error.
    await access(file, constants.W_OK);
    return { [Symbol.dispose]: () => void database.close() };
  } catch (error) {
    database.close();
    const { code } = error as { code?: string };
    if (code === 'SQLITE_BUSY') return null;
    if (code !== 'SQLITE_NOTADB') throw error;
    // Somebody wrote into the file. Truncates it instead of replacing it, because another process may hold a lock on it.
    await truncate(file);
    return lockFile(file);
  }
}
