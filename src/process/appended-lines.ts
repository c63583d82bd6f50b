import { closeSync, constants, fstatSync, readSync } from 'node:fs';
import { openState } from '../state-folder.js';
import { tryOr } from '../result.js';

const NEWLINE = 0x0a;
const MOST_AT_ONCE = 64 * 1024 * 1024;

/**
 * Follows a file of a run that another process appends to. Each call returns the complete lines since the last call, without line ends; none if
 * there is no file. Synchronous, which for a few lines takes a tenth of the processor time. Bytes are split at line ends before they are decoded, so that no character is split.
 */
export function appendedLines(file: string): () => string[] {
  let offset = 0;
  let rest: Buffer = Buffer.alloc(0);
  return () => {
    const fd = tryOr(null, () => openState(file, constants.O_RDONLY));
    if (fd === null) return [];
    try {
      const read = Buffer.alloc(Math.min(MOST_AT_ONCE, Math.max(0, fstatSync(fd).size - offset)));
      const bytesRead = readSync(fd, read, 0, read.length, offset);
      offset += bytesRead;
      const bytes = Buffer.concat([rest, read.subarray(0, bytesRead)]);
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      rest = bytes.subarray(end);
      return end === 0 ? [] : bytes.toString('utf8', 0, end - 1).split('\n');
    } finally {
      closeSync(fd);
    }
  };
}
