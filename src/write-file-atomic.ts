import { rename, writeFile } from 'node:fs/promises';

/** Writes a file so that a reader, or a kill at any moment, sees the old text or the new one, never a part of it. */
export async function writeFileAtomic(file: string, text: string): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, text);
  await rename(temporary, file);
}
