import { tryOr } from './result.js';

/** Parses JSON; returns undefined if it is invalid. */
export function parseJson(text: string): unknown {
  return tryOr(undefined, () => JSON.parse(text) as unknown);
}
