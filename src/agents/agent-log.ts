import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { maskedStream } from '../secrets/masked-stream.js';

const HEAD_BYTES = 4 * 1024 * 1024;
const TAIL_BYTES = 1024 * 1024;

/** What an agent wrote, in a file of at most 5 MB: the beginning, and the end, which says more. */
export interface AgentLog {
  write(chunk: Buffer): void;
  /** Resolves when the file is whole. */
  close(): Promise<void>;
}

/**
 * Opens the log; a disk that is full ends the log, not the agent. What is written is text that `clean` let through,
 * since an agent may print whatever it has read (EV-9, EV-10).
 */
export function openAgentLog(file: string, clean: (text: string) => string): AgentLog {
  const log = openBoundedLog(file);
  const masked = maskedStream(clean, (text) => log.write(Buffer.from(text)));
  return {
    write: (chunk) => masked.write(chunk),
    close: async () => {
      masked.end();
      await log.close();
    },
  };
}

function openBoundedLog(file: string): AgentLog {
  const out = createWriteStream(file);
  out.on('error', () => undefined);
  let written = 0;
  let total = 0;
  let tail: Buffer[] = [];
  let tailBytes = 0;
  return {
    write: (chunk) => {
      total += chunk.length;
      const room = Math.max(0, HEAD_BYTES - written);
      if (room > 0) out.write(chunk.subarray(0, room));
      written += Math.min(room, chunk.length);
      if (chunk.length <= room) return;
      tail.push(chunk.subarray(room));
      tailBytes += chunk.length - room;
      if (tailBytes > 2 * TAIL_BYTES) {
        tail = [Buffer.concat(tail).subarray(-TAIL_BYTES)];
        tailBytes = TAIL_BYTES;
      }
    },
    close: async () => {
      const cut = total - written - tailBytes;
      if (cut > 0) out.write(`\n[self-heal: ${cut} bytes were cut here]\n`);
      for (const chunk of tail) out.write(chunk);
      out.end();
      await finished(out).catch(() => undefined);
    },
  };
}
