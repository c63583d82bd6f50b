import { open, type FileHandle } from 'node:fs/promises';

/** What is new in a file since it was last looked at. */
export interface News {
  /** The complete lines, without their ends. */
  readonly lines: readonly string[];
  /** The file is not the one it was, or is shorter: these lines are its first. */
  readonly startsAgain: boolean;
}

/** Reads a file that another process appends to. */
export interface FollowedFile {
  /** Null where there is no such file. */
  news(): Promise<News | null>;
}

const NEWLINE = 0x0a;
const CHUNK_BYTES = 1 << 18;
/** A line without an end that is longer than this is no event of ours, and is not kept in memory. */
const LINE_BYTES = 1 << 24;

/**
 * Follows a file from its beginning. A last line without its end is kept back until it is whole; bytes are cut at line ends and
 * only then decoded, so that no character is torn.
 */
export function followFile(file: string): FollowedFile {
  let offset = 0;
  let inode: number | null = null;
  let rest: Buffer = Buffer.alloc(0);
  const readNew = async (handle: FileHandle): Promise<News> => {
    const { size, ino } = await handle.stat();
    const startsAgain = inode !== null && (ino !== inode || size < offset);
    if (startsAgain) {
      offset = 0;
      rest = Buffer.alloc(0);
    }
    inode = ino;
    const lines: string[] = [];
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, offset);
      if (bytesRead === 0) return { lines, startsAgain };
      offset += bytesRead;
      rest = takeLines(Buffer.concat([rest, buffer.subarray(0, bytesRead)]), lines);
    }
  };
  return {
    news: async () => {
      const handle = await open(file, 'r').catch(() => null);
      if (handle === null) return null;
      try {
        return await readNew(handle);
      } finally {
        await handle.close();
      }
    },
  };
}

/** Puts the complete lines into `lines`, and gives what is left. */
function takeLines(bytes: Buffer, lines: string[]): Buffer {
  let from = 0;
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
    lines.push(bytes.toString('utf8', from, end));
    from = end + 1;
  }
  return bytes.length - from > LINE_BYTES ? Buffer.alloc(0) : bytes.subarray(from);
}
