import { chooseShown } from './alike.js';
import type { Cause, DiagnosedFailure } from './cause.js';

/**
 * Chooses the tests of a cause that are run without its fix (HL-6): the lead, and two others, from other files if there are any. That they
 * are red again shows it for all; with the fix, every test is run.
 */
export function chooseFlipped({ lead, members }: Cause): Set<DiagnosedFailure> {
  // Those that were run again before are known best.
  const others = members.filter((one) => one !== lead);
  const known = others.toSorted((a, b) => Number(a.like !== undefined) - Number(b.like !== undefined));
  return new Set(chooseShown([lead, ...known]));
}
