import { type EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** How a process has ended. */
export type ChildExit =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'signalled'; readonly signal: string };

/** How long to wait after the exit for output still in the pipe, which a grandchild may hold open forever. */
const DRAIN_MS = 1000;

/** Waits until a child has exited and its output has been read. Rejects if it could not be started. */
export async function waitForExit(child: EventEmitter): Promise<ChildExit> {
  const whenClosed = once(child, 'close').catch(() => undefined);
  const [exitCode, signal] = (await once(child, 'exit')) as [number | null, string | null];
  await Promise.race([whenClosed, delay(DRAIN_MS, undefined, { ref: false })]);
  return exitCode === null
    ? { kind: 'signalled', signal: signal ?? 'unknown signal' }
    : { kind: 'exited', exitCode };
}

const TAIL_BYTES = 64 * 1024;

/** Keeps the last 64 KB of an output. */
export class OutputTail {
  #bytes = Buffer.alloc(0);

  add(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]).subarray(-TAIL_BYTES);
  }

  toString(): string {
    return this.#bytes.toString('utf8');
  }
}
