import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import type { Masking } from './masks.js';
import { maskedStream } from './masked-stream.js';

/**
 * Masks a file in place, piece by piece: readers see the old one or the new one. Rejects where it cannot be read or
 * written.
 */
export async function maskFile(file: string, masking: Masking): Promise<void> {
  const masked = `${file}.${process.pid}.masked`;
  try {
    await writeMasked(file, masked, masking);
    await rename(masked, file);
  } catch (error) {
    await rm(masked, { force: true });
    throw error;
  }
}

async function writeMasked(from: string, to: string, masking: Masking): Promise<void> {
  const out = await open(to, 'w');
  try {
    const ready: string[] = [];
    const stream = maskedStream(masking, (text) => ready.push(text));
    for await (const chunk of createReadStream(from, { highWaterMark: 256 * 1024 })) {
      stream.write(chunk as Buffer);
      await out.writeFile(ready.splice(0).join(''));
    }
    stream.end();
    await out.writeFile(ready.join(''));
  } finally {
    await out.close();
  }
}
