import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { createMaskedStream } from '../secrets/masked-stream.js';
import type { MaskFinder } from '../secrets/redactor.js';

const HEAD_BYTES = 4 * 1024 * 1024;
const TAIL_BYTES = 1024 * 1024;

/** The file with an agent's output, at most about 5 MB: the beginning, and the end, which is more informative. */
export interface AgentLog {
  write(chunk: Buffer): void;
  /** Resolves when the file is complete. */
  close(): Promise<void>;
}

/**
 * Opens the log. A full disk ends the log, not the agent. Masks the output, because an agent may print any file that it has read (EV-9, EV-10).
 * Does not scan the omitted middle for secrets, which would take minutes for a flood of output.
 */
export function openAgentLog(file: string, masking: MaskFinder): AgentLog {
  const stream = createWriteStream(file);
  stream.on('error', () => undefined);
  const write = (text: string) => void stream.write(text);
  const head = createMaskedStream(masking, write);
  const tail = openTail();
  let remaining = HEAD_BYTES;
  return {
    write: (chunk) => {
      const beginning = chunk.subarray(0, remaining);
      if (beginning.length > 0) head.write(beginning);
      remaining -= beginning.length;
      if (chunk.length > beginning.length) tail.write(chunk.subarray(beginning.length));
    },
    close: async () => {
      const { bytes, omittedBytes } = tail.end();
      if (omittedBytes === 0) head.write(bytes);
      head.end();
      if (omittedBytes > 0) {
        stream.write(`\n[self-heal: ${omittedBytes} bytes were cut here]\n`);
        const end = createMaskedStream(masking, write);
        end.write(bytes);
        end.end();
      }
      stream.end();
      await finished(stream).catch(() => undefined);
    },
  };
}

/** Keeps the last bytes of a stream; `end` returns them, and the number of omitted bytes before them. */
function openTail() {
  let chunks: Buffer[] = [];
  let length = 0;
  let omittedBytes = 0;
  const dropBeginning = () => {
    const all = Buffer.concat(chunks);
    // Cuts at a word boundary, because half a secret would not be recognized and masked.
    const from = findWordBoundary(all, Math.max(0, all.length - TAIL_BYTES));
    chunks = [all.subarray(from)];
    length = all.length - from;
    omittedBytes += from;
  };
  return {
    write: (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > 2 * TAIL_BYTES) dropBeginning();
    },
    end: () => {
      if (length > TAIL_BYTES) dropBeginning();
      return { bytes: Buffer.concat(chunks), omittedBytes };
    },
  };
}

/** Returns the start of the first line, or else of the first word, after a position. */
function findWordBoundary(bytes: Buffer, from: number): number {
  if (from === 0) return 0;
  const line = bytes.indexOf('\n', from);
  if (line !== -1) return line + 1;
  const blank = bytes.indexOf(' ', from);
  return blank === -1 ? from : blank + 1;
}
