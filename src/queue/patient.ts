import type { Clock } from '../clock.js';
import { reasonOf } from '../reason-of.js';

/** How to wait for a server that is temporarily unavailable. */
export interface PatienceOptions {
  readonly clock: Clock;
  /** Stops waiting. */
  readonly signal: AbortSignal;
  /** How long to wait, in milliseconds. */
  readonly forMs: number;
  /** Called once per outage. */
  readonly onAway: (reason: string) => void;
  /** Called when the server is back. */
  readonly onBack: () => void;
}

/** The state of waiting for one server, shared by everything that queries it. */
export interface Patience extends Pick<PatienceOptions, 'clock' | 'signal'> {
  /** Records a failed query. Returns false if the outage has lasted too long or waiting was aborted. */
  missed(error: unknown): boolean;
  answered(): void;
}

/** Workers and coordinators wait this long for a server, which is enough for a restart. */
export const longestAwayMs = 5 * 60_000;

const betweenMs = 1000;

/** Starts with the server assumed to be available. */
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

/** Queries a PostgreSQL server, and retries each second while it is unavailable. Rejects with the last error. */
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

/** Wraps an object so that each of its methods waits for the server. */
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

/** Whether the error comes from the driver or from PostgreSQL itself. */
export function isOfDatabase(error: unknown): boolean {
  return isAway(error) || (error instanceof Error && /^[\dA-Z]{5}$/.test(codeOf(error)));
}

function codeOf(error: Error): string {
  return String(Reflect.get(error, 'code') ?? '');
}
