import { createReadStream } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { maskedStream } from './masked-stream.js';

/**
 * Masks a file in place, piece by piece: readers see the old one or the new one. Rejects where it cannot be read or
 * written.
 */
export async function maskFile(file: string, clean: (text: string) => string): Promise<void> {
  const masked = `${file}.${process.pid}.masked`;
  const out = await open(masked, 'w');
  try {
    const ready: string[] = [];
    const stream = maskedStream(clean, (text) => ready.push(text));
    for await (const chunk of createReadStream(file, { highWaterMark: 256 * 1024 })) {
      stream.write(chunk as Buffer);
      await out.writeFile(ready.splice(0).join(''));
    }
    stream.end();
    await out.writeFile(ready.join(''));
  } finally {
    await out.close();
  }
  await rename(masked, file);
}
