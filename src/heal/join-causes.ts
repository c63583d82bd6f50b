import { isDeepStrictEqual } from 'node:util';
import type { Cause } from '../model/cause.js';
import { type Progress, summarizeCause } from './progress.js';

/**
 * Joins causes that the same smallest change broke (HL-6), so that they get one agent and one question, and one fix is proven on all of their tests.
 * Tests that are still red with the fix get a new cause.
 */
export function joinCauses({ session, causes: causesById }: Progress, causes: readonly Cause[]): Cause[] {
  const joined: Cause[] = [];
  for (const cause of causes) {
    const index = joined.findIndex((other) => haveSameBlame(other, cause));
    const first = joined[index];
    if (first) {
      const combined = { ...first, members: [...first.members, ...cause.members] };
      joined[index] = combined;
      causesById.set(combined.id, combined);
      causesById.delete(cause.id);
      session.bus.emit({ type: 'cause.joined', causeId: cause.id, cause: summarizeCause(combined) });
    } else joined.push(cause);
  }
  return joined;
}

function haveSameBlame({ blame }: Cause, { blame: other }: Cause): boolean {
  return (
    blame?.isMinimal === true && other?.isMinimal === true && isDeepStrictEqual(blame.hunks, other.hunks)
  );
}
