import type { Writable } from 'node:stream';

/** The error codes of a write whose reader is gone: a closed pipe, or a closed terminal window. */
const GONE = new Set(['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED', 'ECONNRESET']);

/**
 * Keeps `self-heal run | head -1` from dying with a stack trace while agents are at work: output that nobody reads is dropped, and the run
 * continues to its report and exit code. Any other stream error is a bug and is thrown.
 */
export function ignoreEpipe(...streams: readonly Writable[]): void {
  for (const stream of streams) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (!GONE.has(error.code ?? '')) throw error;
    });
  }
}
