import type { Clock } from '../clock.js';
import { reasonOf } from '../reason-of.js';

/** How a server that is away for a while is waited for. */
export interface PatienceOptions {
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

/** One server that is waited for: once, by all that ask it. */
export interface Patience extends Pick<PatienceOptions, 'clock' | 'signal'> {
  /** It did not answer; false where it has been away for too long, or nobody waits any more. */
  missed(error: unknown): boolean;
  answered(): void;
}

/** A server that is started anew is waited for, by workers and by who sends them causes. */
export const longestAwayMs = 5 * 60_000;

const betweenMs = 1000;

/** Makes one. */
export function createPatience({ clock, signal, forMs, onAway, onBack }: PatienceOptions): Patience {
  let since: number | null = null;
  return {
    clock,
    signal,
    missed: (error) => {
      if (since === null && !signal.aborted) onAway(reasonOf(error));
      since ??= clock.now();
      return !signal.aborted && clock.now() - since < forMs;
    },
    answered: () => {
      if (since !== null) onBack();
      since = null;
    },
  };
}

/** Does what is asked of a PostgreSQL server; again each second, where that is away. Rejects with the last error. */
export async function patiently<T>(ask: () => Promise<T>, patience: Patience): Promise<T> {
  for (;;) {
    try {
      const answer = await ask();
      patience.answered();
      return answer;
    } catch (error) {
      if (!isAway(error) || !patience.missed(error)) throw error;
      await patience.clock.sleep(betweenMs, patience.signal);
    }
  }
}

/** The same object, each method of which waits for the server. */
export function patient<T extends object>(target: T, patience: Patience): T {
  const entries = Object.entries(target).map(([name, value]: [string, unknown]) => {
    if (typeof value !== 'function') return [name, value];
    const ask = value as (...args: unknown[]) => Promise<unknown>;
    return [name, (...args: unknown[]) => patiently(() => ask(...args), patience)];
  });
  return Object.fromEntries(entries) as T;
}

/** Whether the server could not be reached, was shutting down, starting or full, or the connection broke: PostgreSQL's 08…, 57P… and 53300. */
export function isAway(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isAway);
  return (
    error instanceof Error &&
    (/^(?:08|57P|53300|E(?:CONN|PIPE|HOST|NET|TIMEDOUT|AI_AGAIN))/.test(codeOf(error)) ||
      /Connection terminated|connection timeout|timeout exceeded|not queryable/i.test(error.message))
  );
}

/** Whether the driver, or PostgreSQL itself, says that something is wrong with the database. */
export function isOfDatabase(error: unknown): boolean {
  return isAway(error) || (error instanceof Error && /^[\dA-Z]{5}$/.test(codeOf(error)));
}

function codeOf(error: Error): string {
  return String(Reflect.get(error, 'code') ?? '');
}
