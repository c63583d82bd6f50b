import type { ChalkInstance } from 'chalk';
import { type CauseVerdict, isResolved } from '../core/verdict.js';
import { verdictWords } from './wording.js';

/** How a cause ended, as one sign; the sign and the word beside it tell it, the colour only repeats it. */
export function markOf(verdict: CauseVerdict, paint: ChalkInstance): string {
  return (isGood(verdict) ? paint.green : paint.red)(verdictWords[verdict].sign);
}

/** Nothing is left to do about it. */
export function isGood(verdict: CauseVerdict): boolean {
  return verdict === 'passed' || isResolved(verdict);
}
