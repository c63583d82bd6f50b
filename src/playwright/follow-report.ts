import { open, type FileHandle } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { systemClock } from '../clock.js';
import type { ReportLine } from './report-format.js';

const pollMs = 200;
const chunkBytes = 256 * 1024;

/**
 * Passes new lines of a report to `onLines` until `finished` aborts, then reads what is left and resolves. Polls,
 * because some network and container file systems do not report changes to a watcher. Skips an incomplete last line.
 */
export async function followReport(
  file: string,
  finished: AbortSignal,
  onLines: (lines: readonly ReportLine[]) => void,
): Promise<void> {
  const handle = await open(file, 'r');
  try {
    const read = reader(handle, onLines);
    while (!finished.aborted) {
      await read();
      await systemClock.sleep(pollMs, finished);
    }
    await read();
  } finally {
    await handle.close();
  }
}

/** Each call of the returned function reads what was appended since the previous call. */
function reader(handle: FileHandle, onLines: (lines: readonly ReportLine[]) => void): () => Promise<void> {
  const buffer = Buffer.alloc(chunkBytes);
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return async () => {
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return;
      const lines = (rest + decoder.write(buffer.subarray(0, bytesRead))).split('\n');
      rest = lines.pop() ?? '';
      if (lines.length > 0) onLines(lines.map((line) => JSON.parse(line) as ReportLine));
    }
  };
}
