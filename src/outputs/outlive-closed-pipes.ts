import type { Writable } from 'node:stream';

/** What a write gives when its reader is gone: a pipe, or a terminal window that was closed. */
const GONE = new Set(['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED', 'ECONNRESET']);

/**
 * Keeps `self-heal run | head -1` from ending in a stack trace, with agents at work: who stopped reading gets nothing more, and the run
 * goes on to its report and its exit code. Any other error of a stream is a bug and is thrown.
 */
export function outliveClosedPipes(...streams: readonly Writable[]): void {
  for (const stream of streams) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (!GONE.has(error.code ?? '')) throw error;
    });
  }
}
