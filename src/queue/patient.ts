import type { Clock } from '../clock.js';
import { reasonOf } from '../reason-of.js';

/** How a server that is away for a while is waited for. */
export interface Patience {
  readonly clock: Clock;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
  /** For so long, in milliseconds. */
  readonly forMs: number;
  /** Told once for each time that it is away. */
  readonly onAway: (reason: string) => void;
  /** Told when it is there again. */
  readonly onBack: () => void;
}

/** A server that is started anew is waited for, by workers and by who sends them causes. */
export const longestAwayMs = 5 * 60_000;

const betweenMs = 1000;

/** Does what is asked of a PostgreSQL server; again each second, where that is away. Rejects with the last error. */
export async function patiently<T>(ask: () => Promise<T>, how: Patience): Promise<T> {
  const { clock, signal, forMs, onAway, onBack } = how;
  const began = clock.now();
  for (let isFirst = true; ; isFirst = false) {
    try {
      const answer = await ask();
      if (!isFirst) onBack();
      return answer;
    } catch (error) {
      if (!isAway(error) || signal.aborted || clock.now() - began >= forMs) throw error;
      if (isFirst) onAway(reasonOf(error));
      await clock.sleep(betweenMs, signal);
    }
  }
}

/** The same object, each method of which waits for the server. */
export function patient<T extends object>(target: T, how: Patience): T {
  const entries = Object.entries(target).map(([name, value]: [string, unknown]) => {
    if (typeof value !== 'function') return [name, value];
    const ask = value as (...args: unknown[]) => Promise<unknown>;
    return [name, (...args: unknown[]) => patiently(() => ask(...args), how)];
  });
  return Object.fromEntries(entries) as T;
}

/** Whether the server could not be reached, was shutting down, starting or full, or the connection broke: PostgreSQL's 08…, 57P… and 53300. */
export function isAway(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isAway);
  return (
    error instanceof Error &&
    (/^(?:08|57P|53300|E(?:CONN|PIPE|HOST|NET|AI_AGAIN))/.test(codeOf(error)) ||
      /Connection terminated|connection timeout|timeout exceeded/i.test(error.message))
  );
}

/** Whether the driver, or PostgreSQL itself, says that something is wrong with the database. */
export function isOfDatabase(error: unknown): boolean {
  return isAway(error) || (error instanceof Error && /^[\dA-Z]{5}$/.test(codeOf(error)));
}

function codeOf(error: Error): string {
  return String(Reflect.get(error, 'code') ?? '');
}
