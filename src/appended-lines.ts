import { open } from 'node:fs/promises';

const NEWLINE = 0x0a;

/**
 * Follows a file that another process appends to. Each call returns the complete lines since the last call, without line ends; none if
 * there is no file. Bytes are split at line ends before they are decoded, so that no character is split.
 */
export function appendedLines(file: string): () => Promise<string[]> {
  let offset = 0;
  let rest: Buffer = Buffer.alloc(0);
  return async () => {
    const handle = await open(file, 'r').catch(() => null);
    if (handle === null) return [];
    try {
      const { size } = await handle.stat();
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.max(0, size - offset)), {
        position: offset,
      });
      offset += bytesRead;
      const bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      rest = bytes.subarray(end);
      return end === 0 ? [] : bytes.toString('utf8', 0, end - 1).split('\n');
    } finally {
      await handle.close();
    }
  };
}
