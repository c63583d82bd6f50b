import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';

/**
 * Writes a file so that a reader, or a kill at any moment, sees the old content or the new one, never a part of it, and a full disk leaves
 * nothing of the new one. `durable` is on the disk when this resolves, and readable by its owner alone: it may hold a secret.
 */
export async function writeFileAtomic(
  file: string,
  content: Uint8Array | string,
  { durable = false } = {},
): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    const handle = await open(temporary, 'w', durable ? 0o600 : 0o666);
    try {
      await handle.writeFile(content);
      if (durable) await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** The same without waiting, for small files of which there are thousands: by the thread pool each costs several times as much processor time. */
export function writeFileAtomicSync(file: string, content: string): void {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, content);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
