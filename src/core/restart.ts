import type { RetrySettings } from './settings.js';

/** What to do after an agent whose own API was in trouble (AG-7). */
export type Restart =
  | { readonly kind: 'again'; readonly delayMs: number; readonly reduced: boolean }
  | { readonly kind: 'give-up'; readonly reason: string };

/** What has been done about it so far. */
export interface RestartHistory {
  readonly trouble: 'retryable' | 'context_overflow';
  /** Starts again so far, in this attempt. */
  readonly restarts: number;
  /** The evidence was reduced already. */
  readonly reduced: boolean;
  /** From 0 to 1. */
  readonly random: number;
}

/** Starts again of one attempt; they cost no heal attempt, so they need a bound of their own. */
const MOST_RESTARTS = 5;

/**
 * Decides whether an agent is started again: after a wait that grows and is different each time, so that many machines do not come
 * back at once; at once, but only once, with less to read where its context was too small.
 */
export function restartAfter(history: RestartHistory, { backoff }: RetrySettings): Restart {
  const { trouble, restarts, reduced, random } = history;
  if (trouble === 'context_overflow') {
    return reduced
      ? { kind: 'give-up', reason: 'the context of the model is too small even for reduced evidence' }
      : { kind: 'again', delayMs: 0, reduced: true };
  }
  if (restarts >= MOST_RESTARTS) {
    return { kind: 'give-up', reason: `it did not get better in ${MOST_RESTARTS} restarts` };
  }
  const full = Math.min(backoff.initialMs * backoff.factor ** restarts, backoff.maxMs);
  return { kind: 'again', delayMs: Math.round(full * (0.5 + random / 2)), reduced };
}
