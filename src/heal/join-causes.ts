import { isDeepStrictEqual } from 'node:util';
import type { Cause } from '../model/cause.js';
import { type Progress, summarize } from './progress.js';

/**
 * Joins causes that the same smallest change broke (HL-6), so that they get one agent and one question, and one fix is proven on all of their tests.
 * Tests that are still red with the fix get a new cause.
 */
export function joinCauses({ session, causes: known }: Progress, causes: readonly Cause[]): Cause[] {
  const joined: Cause[] = [];
  for (const cause of causes) {
    const at = joined.findIndex((other) => isBlamedAlike(other, cause));
    const first = joined[at];
    if (first) {
      const whole = { ...first, members: [...first.members, ...cause.members] };
      joined[at] = whole;
      known.set(whole.id, whole);
      known.delete(cause.id);
      session.bus.emit({ type: 'cause.joined', causeId: cause.id, cause: summarize(whole) });
    } else joined.push(cause);
  }
  return joined;
}

function isBlamedAlike({ blame }: Cause, { blame: other }: Cause): boolean {
  return (
    blame?.isMinimal === true && other?.isMinimal === true && isDeepStrictEqual(blame.hunks, other.hunks)
  );
}
