import type { ChalkInstance } from 'chalk';
import { type CauseVerdict, isResolved } from '../core/verdict.js';
import { verdictWords } from './wording.js';

/** Returns how a cause ended as one sign. The sign and the word next to it carry the meaning; the color only repeats it. */
export function markOf(verdict: CauseVerdict, paint: ChalkInstance): string {
  return (isGood(verdict) ? paint.green : paint.red)(verdictWords[verdict].sign);
}

/** Whether nothing is left to do about it. */
export function isGood(verdict: CauseVerdict): boolean {
  return verdict === 'passed' || isResolved(verdict);
}
