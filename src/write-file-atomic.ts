import { fsync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { promisify } from 'node:util';

/**
 * Writes a file atomically: a reader, or a kill at any moment, sees the old or the new content, never a part, and a full disk leaves nothing
 * of the new one. With `durable`, the content is on disk when this resolves, and only its owner may read it, since it may hold a secret.
 */
export async function writeFileAtomic(
  file: string,
  content: Uint8Array | string,
  { durable = false } = {},
): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    // A kill may have left it behind, or somebody may have put a link there.
    await rm(temporary, { force: true });
    const handle = await open(temporary, 'wx', durable ? 0o600 : 0o666);
    try {
      await handle.writeFile(content);
      // A file handle under Yarn's Plug'n'Play has no `sync()`.
      if (durable) await promisify(fsync)(handle.fd);
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Does the same synchronously, for thousands of small files: each costs several times as much processor time through the thread pool. */
export function writeFileAtomicSync(file: string, content: string): void {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    rmSync(temporary, { force: true });
    writeFileSync(temporary, content, { flag: 'wx' });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
