import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { maskedStream } from '../secrets/masked-stream.js';
import type { Masking } from '../secrets/redactor.js';

const HEAD_BYTES = 4 * 1024 * 1024;
const TAIL_BYTES = 1024 * 1024;

/** An agent's output, in a file of at most about 5 MB: the beginning, and the end, which says more. */
export interface AgentLog {
  write(chunk: Buffer): void;
  /** Resolves when the file is complete. */
  close(): Promise<void>;
}

/**
 * Opens the log. A full disk ends the log, not the agent. The output is masked, since an agent may print whatever it has read (EV-9,
 * EV-10). What is cut is not even scanned for secrets, because that would take minutes for a flood of output.
 */
export function openAgentLog(file: string, masking: Masking): AgentLog {
  const out = createWriteStream(file);
  out.on('error', () => undefined);
  const handOn = (text: string) => void out.write(text);
  const head = maskedStream(masking, handOn);
  const tail = openTail();
  let room = HEAD_BYTES;
  return {
    write: (chunk) => {
      const kept = chunk.subarray(0, room);
      if (kept.length > 0) head.write(kept);
      room -= kept.length;
      if (chunk.length > kept.length) tail.write(chunk.subarray(kept.length));
    },
    close: async () => {
      const { bytes, cut } = tail.end();
      if (cut === 0) head.write(bytes);
      head.end();
      if (cut > 0) {
        out.write(`\n[self-heal: ${cut} bytes were cut here]\n`);
        const end = maskedStream(masking, handOn);
        end.write(bytes);
        end.end();
      }
      out.end();
      await finished(out).catch(() => undefined);
    },
  };
}

interface Tail {
  write(chunk: Buffer): void;
  /** Returns the last bytes, and how many were cut before them. */
  end(): { readonly bytes: Buffer; readonly cut: number };
}

function openTail(): Tail {
  let chunks: Buffer[] = [];
  let length = 0;
  let cut = 0;
  const shorten = () => {
    const all = Buffer.concat(chunks);
    // Cuts at a word boundary, because half a secret would not be recognized and masked.
    const from = borderIn(all, Math.max(0, all.length - TAIL_BYTES));
    chunks = [all.subarray(from)];
    length = all.length - from;
    cut += from;
  };
  return {
    write: (chunk) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > 2 * TAIL_BYTES) shorten();
    },
    end: () => {
      if (length > TAIL_BYTES) shorten();
      return { bytes: Buffer.concat(chunks), cut };
    },
  };
}

function borderIn(bytes: Buffer, from: number): number {
  if (from === 0) return 0;
  const line = bytes.indexOf('\n', from);
  if (line !== -1) return line + 1;
  const blank = bytes.indexOf(' ', from);
  return blank === -1 ? from : blank + 1;
}
